import { changeOf, concurrencyRetryMs } from './memory-windows.ts'
import {
  hasWindow,
  type LimitedRequest,
  type Measure,
  type Refusal,
  type RequestOutcome,
  type Rule,
  tokensReserved,
  type Verdict,
} from './rule.ts'

/**
 * The algorithm of `window.ts` and `memory-windows.ts` in Redis, where a script is atomic over all nodes. It uses the time of Redis,
 * so that nodes with different clocks count alike. Two keys per rule: the window, packed, and the ids of running requests, each with
 * its expiry, which its node renews.
 */
const common = `
local fields, pieces = 5, 16
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function load(key, span)
  local packed = redis.call('GET', key)
  local window = packed and cmsgpack.unpack(packed) or {}
  local gone = 0
  while gone < #window and math.abs(now - window[gone + 2]) >= span do gone = gone + fields end
  if gone == 0 then return window end
  local kept = {}
  for at = gone + 1, #window do kept[at - gone] = window[at] end
  return kept
end

local function save(key, window, span)
  if #window == 0 then return redis.call('DEL', key) end
  redis.call('SET', key, cmsgpack.pack(window), 'PX', span + 1000)
end

local function sum(window, field)
  local total = 0
  for at = field, #window, fields do total = total + window[at] end
  return total
end

local function current(window, span)
  local at = #window - fields
  if at < 0 or math.abs(now - window[at + 1]) >= span / pieces then
    at = #window
    for field, value in ipairs({ now, now, 0, 0, 0 }) do window[at + field] = value end
  end
  window[at + 2] = math.max(now, window[at + 2])
  return at
end

local function add(window, at, counts)
  for field = 1, 3 do window[at + 2 + field] = math.max(0, window[at + 2 + field] + counts[field]) end
end
`

/**
 * KEYS: for each rule, its window and its running requests. ARGV: 1 to count the request, 0 only to check; its id, the time for
 * which it counts as running, the retry time when concurrency is full; then for each rule its window length, the limits of
 * requests, successes, tokens and concurrency, and the reserved tokens. Returns the refusing rule (0 for none), its measure and its
 * retry time; then for each rule the piece, the used amounts, and the time until its reset.
 */
export const takeScript = `${common}
local function wait(window, field, over, span)
  for at = 0, #window - 1, fields do
    over = over - window[at + field]
    if over <= 0 then return math.max(1, window[at + 2] + span - now) end
  end
  return span
end

local reply, windows, rules = { 0, 0, 0 }, {}, {}
for rule = 1, #KEYS / 2 do
  local read = {}
  for at = 1, 6 do read[at] = tonumber(ARGV[4 + (rule - 1) * 6 + at]) end
  rules[rule] = read
  local span, concurrency, most = read[1], read[5], { read[2], read[3], read[4] }
  local isWindow = most[1] > 0 or most[2] > 0 or most[3] > 0
  windows[rule] = isWindow and load(KEYS[rule * 2 - 1], span) or nil

  for measure = 1, 3 do
    local wanted = measure == 3 and read[6] or 1
    local over = most[measure] > 0 and sum(windows[rule], 2 + measure) + wanted - most[measure] or 0
    if reply[1] == 0 and over > 0 then reply = { rule, measure, wait(windows[rule], 2 + measure, over, span) } end
  end
  if reply[1] == 0 and concurrency > 0 then
    redis.call('ZREMRANGEBYSCORE', KEYS[rule * 2], '-inf', now)
    if redis.call('ZCARD', KEYS[rule * 2]) >= concurrency then reply = { rule, 4, tonumber(ARGV[4]) } end
  end
end

local isCounted = reply[1] == 0 and ARGV[1] == '1'
for rule, read in ipairs(rules) do
  local window, span, piece = windows[rule], read[1], 0
  if isCounted then
    if window then
      local at = current(window, span)
      add(window, at, { 1, 1, read[6] })
      piece = window[at + 1]
      save(KEYS[rule * 2 - 1], window, span)
    end
    if read[5] > 0 then
      redis.call('ZADD', KEYS[rule * 2], now + ARGV[3], ARGV[2])
      redis.call('PEXPIRE', KEYS[rule * 2], ARGV[3])
    end
  end
  window = window or {}
  local reset = #window > 0 and math.max(0, window[#window - fields + 2] + span - now) or 0
  for _, value in ipairs({ piece, sum(window, 3), sum(window, 4), sum(window, 5), reset }) do reply[#reply + 1] = value end
end
return reply
`

/** KEYS as above. ARGV: the request's id; then by rule its span (0 without a window), the piece, and the change of each count. */
export const endScript = `${common}
for rule = 1, #KEYS / 2 do
  local read = {}
  for at = 1, 5 do read[at] = tonumber(ARGV[1 + (rule - 1) * 5 + at]) end
  local span, piece, tokens = read[1], read[2], read[5]
  redis.call('ZREM', KEYS[rule * 2], ARGV[1])
  if span > 0 then
    local window = load(KEYS[rule * 2 - 1], span)
    local found = nil
    for at = 0, #window - 1, fields do
      if window[at + 1] == piece then found = at break end
    end
    if found then add(window, found, { read[3], read[4], tokens })
    elseif tokens > 0 then add(window, current(window, span), { 0, 0, tokens }) end
    save(KEYS[rule * 2 - 1], window, span)
  end
end
`

/** KEYS: running requests of rules. ARGV: the time for which they count, then by key the id of a request that still runs. */
export const renewScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for at, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + ARGV[1], ARGV[1 + at])
  redis.call('PEXPIRE', key, ARGV[1])
end
`

type Values = readonly (string | number)[]

/** ARGV of `takeScript` to count a request. */
export function takeValues(rules: readonly Rule[], need: LimitedRequest, runsForMs: number): Values {
  const ofRules = rules.flatMap((rule) => [...limitsOf(rule), rule.tokens, rule.concurrency, tokensReserved(rule, need)])
  return [1, need.id, runsForMs, concurrencyRetryMs, ...ofRules]
}

/** ARGV of `takeScript` to check only. A request of zero tokens is never refused, but the window is read nevertheless. */
export function checkValues(rules: readonly Rule[]): Values {
  const tokensOf = ({ tokens }: Rule) => (tokens > 0 ? Number.MAX_SAFE_INTEGER : 0)
  const ofRules = rules.flatMap((rule) => [...limitsOf(rule), tokensOf(rule), rule.concurrency, 0])
  return [0, '', 0, concurrencyRetryMs, ...ofRules]
}

function limitsOf({ windowMs, requests, successes }: Rule): readonly number[] {
  return [windowMs, requests, successes]
}

const measures: readonly Measure[] = ['requests', 'successes', 'tokens', 'concurrency']

/** The reply of `takeScript`. */
export function readVerdict(
  rules: readonly Rule[],
  [refused = 0, measure = 0, retryMs = 0, ...rest]: readonly number[],
): Verdict {
  const ofRules = rules.map((rule, index) => {
    const [piece = 0, requests = 0, successes = 0, tokens = 0, resetMs = 0] = rest.slice(index * 5, index * 5 + 5)
    return { piece, status: { rule, requests, successes, tokens, resetMs } }
  })
  const rule = rules[refused - 1]
  const refusal: Refusal | undefined = rule && { rule, measure: measures[measure - 1] ?? 'requests', retryMs }
  return {
    refusal,
    statuses: ofRules.map(({ status }) => status).filter((status) => hasWindow(status.rule)),
    pieces: ofRules.map(({ piece }) => piece),
  }
}

interface Ended {
  readonly need: LimitedRequest
  /** Undefined when the reply of Redis did not arrive in time. */
  readonly pieces: readonly number[] | undefined
  readonly outcome: RequestOutcome
}

/** ARGV of `endScript` for an admitted request. */
export function endValues(rules: readonly Rule[], { need, pieces, outcome }: Ended): Values {
  const ofRules = rules.flatMap((rule, index) => {
    const { requests, successes, tokens } = changeOf(rule, need, outcome)
    return [hasWindow(rule) ? rule.windowMs : 0, pieces?.[index] ?? 0, requests, successes, tokens]
  })
  return [need.id, ...ofRules]
}

/** ARGV of `endScript` for further tokens of a request that runs on. */
export function addValues({ windowMs }: Rule, tokens: number): Values {
  return ['', windowMs, 0, 0, 0, tokens]
}
