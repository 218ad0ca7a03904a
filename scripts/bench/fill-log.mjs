// Fills a database with a log of many rows, fast: the database generates them itself, from the number of each row, so that every
// run has the same rows on both databases. 30 days, 500 users of very different size, 60 models, 30 channels; and a few rows of
// something rare.

export const spanSeconds = 30 * 86_400
const users = 500
const atOnce = 500_000

/** @param {{ dialect: string, run: (sql: string) => Promise<void>, rows: number, endSeconds: number, log: (text: string) => void }} given */
export async function fillLog({ dialect, run, rows, endSeconds, log }) {
  const indexes = [
    ['logs_created_at_id', '(created_at, id)'],
    ['logs_user_id_created_at_id_token_name', '(user_id, created_at, id, token_name)'],
    ['logs_other_types', '(type, created_at, id) where type <> 2'],
  ]
  for (const [name] of indexes) await run(`drop index ${name}`)
  await run(userRows(dialect))
  for (let first = 0; first < rows; first += atOnce) {
    await run(logRows(dialect, { first, last: Math.min(rows, first + atOnce) - 1, rows, endSeconds }))
    log(`${Math.min(rows, first + atOnce).toLocaleString('en-US')} rows`)
  }
  for (const [name, columns] of indexes) await run(`create index ${name} on logs ${columns}`)
  log('indexes')
  await run(rollUp)
  await run(ledgerRow)
  await run(dialect === 'postgres' ? 'vacuum analyze' : 'analyze')
  log('roll-up')
}

/** A pseudorandom number from 0 to 1, derived from the row number. */
const chance = (factor) => `(((n * ${factor} + 13) % 1000003) / 1000003.0)`
const floor = (dialect, expression) =>
  dialect === 'postgres' ? `floor(${expression})::bigint` : `cast(${expression} as integer)`
const series = (dialect, first, last) =>
  dialect === 'postgres'
    ? `select n from generate_series(${first}::bigint, ${last}::bigint) as s (n)`
    : `with recursive s (n) as (select ${first} union all select n + 1 from s where n < ${last}) select n from s`

function userRows(dialect) {
  return `insert into users (id, username, username_key, password_hash, aff_code, created_time, access_token_hash)
    select n + 2, 'user-' || (n + 2), 'user-' || (n + 2), '', 'bench' || n, 0, 'bench' || n from (${series(dialect, 0, users - 1)}) numbers`
}

function logRows(dialect, { first, last, rows, endSeconds }) {
  const int = (expression) => floor(dialect, expression)
  const user = `case when n % 500000 = 7 then 2 else 2 + ${int(`${chance(7919)} * ${chance(7919)} * ${chance(7919)} * ${users}`)} end`
  const time = `${endSeconds - spanSeconds} + ${int(`n * ${spanSeconds}.0 / ${rows}`)}`
  return `insert into logs (user_id, created_at, type, content, username, token_id, token_name, model_name, quota, prompt_tokens,
      completion_tokens, use_time, is_stream, channel_id, "group", request_id, other)
    select user_id, created_at, type, case when type = 2 then 'model ratio 1.25, completion ratio 4, group ratio 1' else 'a note' end,
      'user-' || user_id, token, 'token-' || token, model, quota, tokens * 3, tokens, 3, n % 2, channel, user_group, 'request-' || n, other
    from (
      select n, user_id, created_at, type,
        case when type <> 2 then 0 when n % 500000 = 7 then 999999 else user_id * 10 + n % 3 end as token,
        case when type <> 2 then '' when n % 200000 = 11 then 'model-rare' else 'model-' || ((user_id * 7 + pick) % 60) end as model,
        case when type <> 2 then 0 when n % 250000 = 17 then 99 else (user_id * 7 + pick) % 30 + 1 end as channel,
        case when type <> 2 then '' when n % 200000 = 11 then 'rare' else 'group-' || (user_id % 5) end as user_group,
        case when type = 2 then 100 + n % 5000 else 0 end as quota,
        case when type = 2 then 50 + n % 900 else 0 end as tokens,
        '{"model_ratio":1.25,"completion_ratio":4,"model_price":-1,"group_ratio":1,"cache_ratio":0.5,"create_cache_ratio":1.25,"quota_per_unit":500000,"input_tokens":900,"cache_tokens":0,"cache_creation_tokens":0,"output_tokens":300,"frt":412,"use_time_ms":2871,"admin_info":{"use_channel":["7"],"address":"203.0.113.7"}}' as other
      from (
        select n, ${user} as user_id, ${time} as created_at, ${int(`${chance(104729)} * ${chance(104729)} * 4`)} as pick,
          case when n % 1000 = 3 then 1 when n % 5000 = 9 then 3 else 2 end as type
        from (${series(dialect, first, last)}) numbers
      ) drawn
    ) made`
}

const rollUp = `insert into quota_data (created_at, user_id, username, model_name, channel_id, "group", token_used, count, quota)
  select created_at - created_at % 3600, user_id, min(username), model_name, channel_id, "group",
    sum(prompt_tokens + completion_tokens), count(*), sum(quota)
  from logs where type = 2 group by 1, 2, 4, 5, 6`

/** The charge by which a request is found. */
const ledgerRow = `insert into ledger (reference, user_id, token_id, kind, amount, created_at)
  select 'charge:' || request_id, user_id, token_id, 'charge', -quota, created_at from logs where id = (select max(id) / 3 from logs)`
