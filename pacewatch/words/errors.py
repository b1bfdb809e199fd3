"""Every error of our own. A provider's failure is never one of these: it is an Outcome in a Timing.

    PacewatchError
      SettingsError     the file or the environment says something that cannot be
      CatalogError      a provider or endpoint that cannot be
      WireError         input from another process that is refused
      BudgetSpent       the caps leave no room for a run
      StoreError        Postgres or the worker's disk did not do its part
      StackError        a process of `pacewatch up` could not be started or kept
      CalibrationError  this host's timings could not be compared with known ones

A message says where, what is wrong and what is allowed, in one sentence: no capital, no full
stop, no key, no prompt.
"""

from collections.abc import Sequence


class PacewatchError(Exception):
    """Base of all errors of our own; its text is fit for a person."""


class SettingsError(PacewatchError):
    """The file or the environment says something that cannot be; `faults` holds every sentence."""

    def __init__(self, faults: str | Sequence[str]) -> None:
        """Keep all faults at once; one string is one fault."""
        self.faults: tuple[str, ...] = (faults,) if isinstance(faults, str) else tuple(faults)
        super().__init__("\n".join(self.faults))


class CatalogError(SettingsError):
    """A provider or an endpoint of the catalog that cannot be."""


class WireError(PacewatchError):
    """Input from another process that is refused, with the reason."""


class BudgetSpent(PacewatchError):  # noqa: N818 - a state of affairs, not a mistake
    """The caps leave no room for a run."""


class StoreError(PacewatchError):
    """Postgres or the worker's disk did not do its part."""


class StackError(PacewatchError):
    """A process of `pacewatch up` could not be started or kept."""


class CalibrationError(PacewatchError):
    """This host's timings could not be compared with known ones."""
