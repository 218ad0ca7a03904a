import { logColumns, siteCostColumns, type Value } from './rows.ts'

/**
 * The statements of the ledger on PostgreSQL: one round trip for a batch of any size. Everyone locks rows in one order, users before
 * tokens before channels and each by id, so that nodes do not wait for each other in a circle. `(select count(*) from x) >= 0` makes a
 * part wait until x has run: the order of the parts of a statement is otherwise not defined.
 */

/**
 * Reserves the amounts that fit, in the order given: each amount ($4) whose need ($7) is available after those before it, and one that
 * reserves everything ($8) only if nothing remains. Returns `granted` and the available quota of user and token; a null `token_free`
 * is no limit.
 */
export const holdStatement = `
with wanted as materialized (
  select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $7::bigint[], $8::boolean[])
    with ordinality as w (request_id, user_id, token_id, amount, needs, takes_all, position)
),
payers as materialized (
  select id, quota - held as free from users where id = any($2) order by id for no key update
),
limits as materialized (
  select id, remain_quota - held as free, unlimited_quota from tokens
  where id = any($3) and (select count(*) from payers) >= 0 order by id for no key update
),
asked as (
  select w.*, coalesce(p.free, 0) as user_free,
    case when w.token_id <> 0 and coalesce(l.unlimited_quota, 0) = 0 then coalesce(l.free, 0) end as token_free
  from wanted w left join payers p on p.id = w.user_id left join limits l on l.id = w.token_id
),
fitting as (
  select *, needs <= user_free and (token_free is null or needs <= token_free) as fits from asked
),
summed as (
  select *,
    sum(amount) filter (where fits) over (partition by user_id order by position) as user_sum,
    sum(amount) filter (where fits) over (partition by token_id order by position) as token_sum
  from fitting
),
decided as materialized (
  select *,
    fits and user_sum - amount + needs <= user_free
      and (token_free is null or token_sum - amount + needs <= token_free)
      and (not takes_all or user_sum = user_free or (token_free is not null and token_sum = token_free)) as granted
  from summed
),
opened as (
  insert into holds (request_id, user_id, token_id, amount, node, lease_until, created_at)
  select request_id, user_id, token_id, amount, $5, extract(epoch from now())::bigint + $6::bigint, extract(epoch from now())::bigint
  from decided where granted
),
user_holds as (
  update users set held = held + s.amount
  from (select user_id, sum(amount)::bigint as amount from decided where granted group by user_id) s where id = s.user_id
),
token_holds as (
  update tokens set held = held + s.amount
  from (select token_id, sum(amount)::bigint as amount from decided where granted group by token_id) s where id = s.token_id
)
select granted, user_free, token_free from decided order by position`

const logList = logColumns.map((name) => `"${name}"`).join(', ')
const logArrays = logColumns.map((name, index) => `$${12 + index}::${isText(name) ? 'text' : 'bigint'}[]`).join(', ')

const siteCostList = siteCostColumns.join(', ')
const siteCostArrays = siteCostColumns.map((name, index) => `$${30 + index}::${isText(name) ? 'text' : 'bigint'}[]`).join(', ')

/**
 * Writes charges ($1 to $10), their log rows ($11 keys, then the columns) and the ends of holds ($29). Only a charge whose ledger row
 * is new counts; the released amounts are those of the deleted rows of `holds`. Contended rows are updated last.
 */
export const chargeStatement = chargeStatementWith('')

/** The same for a batch in which there are site costs ($30 to $36). */
export const siteCostStatement = chargeStatementWith(`
borne as (
  insert into site_costs (${siteCostList})
  select ${siteCostList} from unnest(${siteCostArrays}) as s (${siteCostList})
  where 'charge:' || s.request_id in (select reference from added)
),`)

function chargeStatementWith(more: string): string {
  return `
with given as materialized (
  select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
    $8::text[], $9::text[], $10::text[])
    as g (request_id, user_id, token_id, amount, at, channel_id, tokens, username, model, "group")
),
added as (
  insert into ledger (reference, user_id, token_id, kind, amount, created_at)
  select 'charge:' || request_id, user_id, token_id, 'charge', -amount, at from given order by request_id
  on conflict (reference) do nothing
  returning reference
),
charges as materialized (
  select g.* from given g join added a on a.reference = 'charge:' || g.request_id
),
logged as (
  insert into logs (${logList})
  select ${logList} from unnest($11::text[], ${logArrays}) as l (charge, ${logList})
  where 'charge:' || l.charge in (select reference from added)
  returning 1
),${more}
rolled as (
  insert into quota_data (created_at, user_id, model_name, channel_id, "group", username, token_used, count, quota)
  select at - at % 3600, user_id, model, channel_id, "group", min(username), sum(tokens), count(*), sum(amount)
  from charges group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  on conflict (created_at, user_id, model_name, channel_id, "group") do update set
    token_used = quota_data.token_used + excluded.token_used,
    count = quota_data.count + excluded.count,
    quota = quota_data.quota + excluded.quota
  returning 1
),
ended as (
  delete from holds
  where request_id = any($29::text[]) and (select count(*) from logged) + (select count(*) from rolled) >= 0
  returning user_id, token_id, amount
),
user_sums as materialized (
  select user_id, sum(charged)::bigint as charged, sum(calls)::bigint as calls, sum(freed)::bigint as freed
  from (
    select user_id, amount as charged, 1 as calls, 0 as freed from charges
    union all select user_id, 0, 0, amount from ended
  ) moves group by user_id
),
token_sums as materialized (
  select token_id, sum(charged)::bigint as charged, sum(calls)::bigint as calls, sum(freed)::bigint as freed
  from (
    select token_id, amount as charged, 1 as calls, 0 as freed from charges
    union all select token_id, 0, 0, amount from ended
  ) moves where token_id <> 0 group by token_id
),
channel_sums as materialized (
  select channel_id, sum(amount)::bigint as charged from charges where channel_id <> 0 group by channel_id
),
locked_users as materialized (
  select id from users where id in (select user_id from user_sums) order by id for no key update
),
charged_users as (
  update users set
    quota = quota - charged, held = held - freed, used_quota = used_quota + charged, request_count = request_count + calls
  from user_sums where id = user_id and (select count(*) from locked_users) >= 0
  returning 1
),
locked_tokens as materialized (
  select id from tokens
  where id in (select token_id from token_sums) and (select count(*) from charged_users) >= 0 order by id for no key update
),
charged_tokens as (
  update tokens set
    remain_quota = case when unlimited_quota = 0 then remain_quota - charged else remain_quota end,
    held = held - freed,
    used_quota = used_quota + charged,
    status = case when status = 1 and calls > 0 and unlimited_quota = 0 and remain_quota - charged <= 0 then 4 else status end
  from token_sums where id = token_id and (select count(*) from locked_tokens) >= 0
  returning id, calls > 0 and unlimited_quota = 0 and remain_quota <= 0 as exhausted
),
locked_channels as materialized (
  select id from channels
  where id in (select channel_id from channel_sums) and (select count(*) from charged_tokens) >= 0 order by id for no key update
),
charged_channels as (
  update channels set used_quota = used_quota + charged
  from channel_sums where id = channel_id and (select count(*) from locked_channels) >= 0
)
select
  (select count(*) from charges) as charges,
  (select coalesce(sum(amount), 0) from charges) as units,
  (select coalesce(json_agg(id), '[]') from charged_tokens where exhausted) as exhausted`
}

export const checkpointStatement = `
update holds set checkpoint = c.checkpoint
from unnest($1::text[], $2::text[]) as c (id, checkpoint) where request_id = c.id`

/** Holds that are being ended just now are passed over. The database's clock counts, so that those of the nodes need not agree. */
export const keepStatement = `
update holds set lease_until = extract(epoch from now())::bigint + $2::bigint
where request_id in (select request_id from holds where request_id = any($1::text[]) for update skip locked)`

/** Takes over holds whose lease has expired. If a node dies while it handles them, the next node takes them over. */
export const takeOverStatement = `
update holds set node = $1, lease_until = extract(epoch from now())::bigint + $2::bigint
where request_id in (
  select request_id from holds
  where lease_until < extract(epoch from now()) and not request_id = any($3::text[])
  order by lease_until limit 1000 for update skip locked
)
returning request_id, user_id, token_id, amount, checkpoint`

export function isText(column: (typeof logColumns | typeof siteCostColumns)[number]): boolean {
  return ['content', 'username', 'token_name', 'model_name', 'group', 'request_id', 'other', 'model', 'reason'].includes(column)
}

/** An array in PostgreSQL's text form; several times faster than the driver's own, which inspects every element. */
export function arrayText(values: readonly Value[]): string {
  return `{${values.map((value) => (typeof value === 'number' ? value : quoted(value))).join(',')}}`
}

function quoted(text: string): string {
  // PostgreSQL stores no NUL.
  const storable = text.includes('\0') ? text.replaceAll('\0', '') : text
  return `"${/["\\]/.test(storable) ? storable.replace(/["\\]/g, '\\$&') : storable}"`
}
