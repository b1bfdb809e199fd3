"""Error codes and types of the providers that say more than the HTTP status does."""

from pacewatch.words.outcome import Outcome

_CODES: dict[Outcome, str] = {
    Outcome.PAYMENT: """
        insufficient_quota insufficient_balance insufficient_credits insufficient_funds
        billing_error billing_not_active billing_hard_limit_reached payment_required
        credit_balance_too_low exceeded_current_quota_error arrearage account_overdue
        billing_disabled
    """,
    Outcome.RATE_LIMITED: """
        rate_limit_exceeded rate_limit_error rate_limit rate_limited too_many_requests
        resource_exhausted throttling throttling_exception throttled requests_limit_exceeded
        tokens_limit_exceeded limit_requests limit_burst_rate rate_limit_reached
        too_many_requests_exception service_quota_exceeded_exception resource_quota_exceeded
    """,
    Outcome.OVERLOADED: """
        overloaded overloaded_error engine_overloaded engine_overloaded_error model_overloaded
        service_unavailable service_unavailable_exception unavailable capacity_exceeded
        over_capacity service_tier_capacity_exceeded model_not_ready_exception
        model_capacity_exhausted no_capacity server_overloaded server_is_overloaded slow_down
    """,
    Outcome.AUTH: """
        invalid_api_key incorrect_api_key api_key_invalid invalid_authentication
        authentication_error invalid_authentication_error unauthorized unauthenticated
        permission_denied permission_error access_denied
        access_denied_exception unrecognized_client_exception expired_token_exception expired_token
        invalid_client_token_id
        invalid_signature_exception signature_does_not_match incomplete_signature
        incomplete_signature_exception missing_authentication_token
        missing_authentication_token_exception access_token_expired account_deactivated
    """,
    Outcome.FILTERED: """
        content_filter content_filtered content_policy_violation responsible_ai_policy_violation
        data_inspection_failed content_moderation safety prompt_blocked moderation_blocked
        invalid_prompt
    """,
    Outcome.NOT_SERVED: """
        model_not_found model_decommissioned model_deprecated model_retired model_removed
        model_not_available model_unavailable model_not_exist unknown_model not_found
        not_found_error deployment_not_found resource_not_found_exception
    """,
    Outcome.SERVER_ERROR: """
        model_error_exception model_timeout_exception model_stream_error_exception
        internal_server_exception
    """,
    Outcome.REJECTED: """
        context_length_exceeded string_above_max_length unsupported_parameter unsupported_value
        unknown_parameter
    """,
}


def _plain(code: str) -> str:
    return "".join(letter for letter in code.casefold() if letter.isalnum())


_OUTCOMES: dict[str, Outcome] = {
    _plain(code): outcome for outcome, codes in _CODES.items() for code in codes.split()
}


def outcome_of_code(code: str) -> Outcome | None:
    """Return the outcome that an error code or type stands for; None for one that says nothing.

    Case, underscores and points make no difference.
    """
    return _OUTCOMES.get(_plain(code))
