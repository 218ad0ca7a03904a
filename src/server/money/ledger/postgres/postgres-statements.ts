import { logColumns, siteCostColumns, type Value } from '../rows.ts'

/**
 * The statements of the ledger on PostgreSQL: one round trip for a batch of any size. All statements lock rows in one order, users
 * before tokens before channels and each by id, so that nodes do not deadlock. `(select count(*) from x) >= 0` makes a part wait
 * until x has run: the order of execution within a statement is otherwise undefined.
 */

/** The parts of a reservation that only a batch with budgets has. */
interface BudgetParts {
  readonly windows: string
  readonly fits: string
  readonly sums: string
  readonly decides: string
  readonly takesAll: string
  readonly text: string
  readonly writes: string
  readonly answers: string
}

const withoutBudgets: BudgetParts = {
  windows: '',
  fits: '',
  sums: '',
  decides: '',
  takesAll: '',
  text: "''",
  writes: '',
  answers: '',
}

/**
 * Reserves the amounts that fit, in the order given: each amount ($4) whose need ($7) is available after those before it, and one that
 * reserves everything ($8) only if nothing remains. Returns `granted` and the available quota of user and token; a null `token_free`
 * is no limit.
 */
export const holdStatement = holdStatementWith()

/** Locks budgets, in one order, until the reservation that follows is committed: their sums are read after it. Ids are integers. */
export function lockBudgets(ids: readonly number[]): string {
  return `begin; select 1 from budgets where id in (${ids.join(', ')}) order by id for no key update`
}

/** What the windows `l` leave free. */
const freeInBudget = `
l.most - (
  select coalesce(sum(s.charged - s.forgiven + s.held), 0)::bigint from budget_sums s
  where s.budget_id = l.budget_id and s.start between l.since and l.until
)`

/**
 * Like `holdStatement`, for a batch in which some holds have budgets: their windows ($9 position of the hold, $10 to $14, one row
 * each), and as the rows of holds name them ($15). Returns `frees` too: what each window of the hold leaves free, in order.
 */
export const budgetHoldStatement = holdStatementWith({
  windows: `
windows as materialized (
  select l.*, w.amount, w.needs, ${freeInBudget} as free
  from unnest($9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[])
    with ordinality as l (position, budget_id, start, since, until, most, line)
  join wanted w on w.position = l.position
  where (select count(*) from limits) >= 0
),
in_windows as (
  select position, json_agg(free order by line) as frees, bool_and(needs <= free) as fits from windows group by position
),`,
  fits: ' and coalesce((select b.fits from in_windows b where b.position = asked.position), true)',
  sums: `
window_sums as (
  select position, bool_and(coalesce(sum, 0) - amount + needs <= free) as fits, bool_or(sum = free) as takes_all
  from (
    select w.position, w.amount, w.needs, w.free, sum(w.amount) filter (where f.fits) over (partition by w.budget_id order by w.position) as sum
    from windows w join fitting f on f.position = w.position
  ) s group by position
),`,
  decides: ' and coalesce((select b.fits from window_sums b where b.position = summed.position), true)',
  takesAll: ' or (select b.takes_all from window_sums b where b.position = summed.position)',
  text: '($15::text[])[position]',
  writes: `,
window_holds as (
  insert into budget_sums (budget_id, start, held)
  select w.budget_id, w.start, sum(w.amount)::bigint from windows w join decided d on d.position = w.position
  where d.granted group by 1, 2 order by 1, 2
  on conflict (budget_id, start) do update set held = budget_sums.held + excluded.held
)`,
  answers: ', (select b.frees from in_windows b where b.position = decided.position) as frees',
})

/**
 * Counts open holds ($2 request ids, $3 their budgets as their rows name them) in further budgets: the added windows ($1 position
 * of the hold, $4 amount, $5 to $9, one row each). A hold is granted if its amount fits after the holds before it. Returns `frees`
 * like the reservation.
 */
export const extendStatement = `
with windows as materialized (
  select l.*, ${freeInBudget} as free
  from unnest($1::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[])
    with ordinality as l (position, amount, budget_id, start, since, until, most, line)
),
fitting as materialized (
  select position, json_agg(free order by line) as frees, bool_and(amount <= free) as fits from windows group by position
),
decided as materialized (
  select s.position, bool_and(s.fits and s.sum <= s.free) as granted
  from (
    select w.position, w.free, f.fits, sum(w.amount) filter (where f.fits) over (partition by w.budget_id order by w.position) as sum
    from windows w join fitting f on f.position = w.position
  ) s group by s.position
),
noted as (
  update holds set budgets = n.budgets
  from unnest($2::text[], $3::text[]) with ordinality as n (request_id, budgets, position) join decided d on d.position = n.position
  where d.granted and holds.request_id = n.request_id
  returning n.position
),
window_holds as (
  insert into budget_sums (budget_id, start, held)
  select w.budget_id, w.start, sum(w.amount)::bigint from windows w join noted n on n.position = w.position group by 1, 2 order by 1, 2
  on conflict (budget_id, start) do update set held = budget_sums.held + excluded.held
)
select d.granted, n.position is not null as is_open, f.frees
from decided d join fitting f on f.position = d.position left join noted n on n.position = d.position order by d.position`

function holdStatementWith(budgets: BudgetParts = withoutBudgets): string {
  return `
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
${budgets.windows}
fitting as materialized (
  select *, needs <= user_free and (token_free is null or needs <= token_free)${budgets.fits} as fits from asked
),${budgets.sums}
summed as (
  select *,
    sum(amount) filter (where fits) over (partition by user_id order by position) as user_sum,
    sum(amount) filter (where fits) over (partition by token_id order by position) as token_sum
  from fitting
),
decided as materialized (
  select *,
    fits and user_sum - amount + needs <= user_free
      and (token_free is null or token_sum - amount + needs <= token_free)${budgets.decides}
      and (not takes_all or user_sum = user_free or (token_free is not null and token_sum = token_free)${budgets.takesAll}) as granted
  from summed
),
opened as (
  insert into holds (request_id, user_id, token_id, amount, node, lease_until, created_at, budgets)
  select request_id, user_id, token_id, amount, $5, extract(epoch from now())::bigint + $6::bigint, extract(epoch from now())::bigint,
    ${budgets.text}
  from decided where granted
),
user_holds as (
  update users set held = held + s.amount
  from (select user_id, sum(amount)::bigint as amount from decided where granted group by user_id) s where id = s.user_id
),
token_holds as (
  update tokens set held = held + s.amount
  from (select token_id, sum(amount)::bigint as amount from decided where granted group by token_id) s where id = s.token_id
)${budgets.writes}
select granted, user_free, token_free${budgets.answers} from decided order by position`
}

const logList = logColumns.map((name) => `"${name}"`).join(', ')
const logArrays = logColumns.map((name, index) => `$${12 + index}::${isText(name) ? 'text' : 'bigint'}[]`).join(', ')

const siteCostList = siteCostColumns.join(', ')
const siteCostArrays = siteCostColumns.map((name, index) => `$${30 + index}::${isText(name) ? 'text' : 'bigint'}[]`).join(', ')

/**
 * Writes charges ($1 to $10), their log rows ($11 keys, then the columns) and the ends of holds ($29). Only a charge whose ledger row
 * is new counts; the released amounts are those of the deleted rows of `holds`. Contended rows are updated last.
 */
export const chargeStatement = chargeStatementWith('')

const borne = `
borne as (
  insert into site_costs (${siteCostList})
  select ${siteCostList} from unnest(${siteCostArrays}) as s (${siteCostList})
  where 'charge:' || s.request_id in (select reference from added)
),`

/** Like `chargeStatement`, for a batch with site costs ($30 to $36). */
export const siteCostStatement = chargeStatementWith(borne)

/**
 * Like `siteCostStatement`, for a batch with budgets: the windows that count each charge ($37 request id, $38 budget, $39 start,
 * $40 channel whose charges count, 0 for any), in addition to those in the row of its hold. Site costs may be empty.
 */
export const budgetChargeStatement = chargeStatementWith(
  borne,
  `,
held_windows as materialized (
  select e.request_id, e.amount, (w->>0)::bigint as budget_id, (w->>1)::bigint as start, (w->>2)::bigint as channel_id
  from ended e cross join lateral jsonb_array_elements(nullif(e.budgets, '')::jsonb) as w
),
counted as materialized (
  select distinct w.request_id, w.budget_id, w.start, c.amount
  from (
    select request_id, budget_id, start, channel_id
      from unnest($37::text[], $38::bigint[], $39::bigint[], $40::bigint[]) as g (request_id, budget_id, start, channel_id)
    union all select request_id, budget_id, start, channel_id from held_windows
  ) w join charges c on c.request_id = w.request_id
  where c.amount > 0 and w.channel_id in (0, c.channel_id)
),
budget_rows as (
  insert into budget_charges (request_id, budget_id, start, amount)
  select request_id, budget_id, start, amount from counted order by request_id, budget_id
  on conflict do nothing
),
window_sums as materialized (
  select budget_id, start, sum(charged)::bigint as charged, sum(freed)::bigint as freed
  from (
    select budget_id, start, amount as charged, 0 as freed from counted
    union all select budget_id, start, 0, amount from held_windows
  ) moves where (select count(*) from locked_channels) >= 0 group by 1, 2
),
window_charges as (
  insert into budget_sums (budget_id, start, charged, held)
  select budget_id, start, charged, -freed from window_sums order by 1, 2
  on conflict (budget_id, start) do update set charged = budget_sums.charged + excluded.charged, held = budget_sums.held + excluded.held
)`,
)

function chargeStatementWith(more: string, last = ''): string {
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
  returning request_id, user_id, token_id, amount, budgets
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
)${last}
select
  (select count(*) from charges) as charges,
  (select coalesce(sum(amount), 0) from charges) as units,
  (select coalesce(json_agg(id), '[]') from charged_tokens where exhausted) as exhausted`
}

export const checkpointStatement = `
update holds set checkpoint = c.checkpoint
from unnest($1::text[], $2::text[]) as c (id, checkpoint) where request_id = c.id`

/** Skips holds that another transaction is ending. Uses the clock of the database, since those of the nodes may differ. */
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
returning request_id, user_id, token_id, amount, checkpoint, budgets`

function isText(column: (typeof logColumns | typeof siteCostColumns)[number]): boolean {
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
