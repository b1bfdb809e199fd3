-- Tokens: who may speak to the centre. The token itself is nowhere.

-- name: insert_token
insert into region_token (token_hash, region, scope, created_at)
values (%(hash)s, %(region)s, %(scope)s, %(now)s)

-- name: find_token
select region, scope from region_token where token_hash = %(hash)s and revoked_at is null

-- name: list_tokens
select left(encode(token_hash, 'hex'), 12) as id, region, scope, created_at, revoked_at
from region_token
order by created_at, token_hash

-- name: revoke_tokens
update region_token
set revoked_at = %(now)s
where region = %(region)s
  and revoked_at is null
  and (%(only)s::text is null or left(encode(token_hash, 'hex'), 12) = %(only)s)
