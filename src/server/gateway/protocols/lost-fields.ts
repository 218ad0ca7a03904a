import type { Text } from '../../../contract/text.ts'
import { fail } from '../../base/lib/failure.ts'
import type { RequestContext } from './codec.ts'
import type { CacheMark, Dialogue, Part, Search, ToolResultPart, VendorOnlyTool } from './dialogue.ts'
import type { Format } from './format.ts'
import { asksForSomething } from './unread-members.ts'

/** The features of a conversation, besides its turns, that not every format supports. */
export type Field =
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'seed'
  | 'stop'
  | 'outputTokensMax'
  | 'reasoning'
  | 'output'
  | 'logprobs'
  | 'search'
  | 'tools'
  | 'strictTools'
  | 'toolChoice'
  | 'parallelTools'
  | 'user'
  | 'cacheKey'
  | 'cache'
  | 'detail'
  | 'title'
  | 'turns'
  | 'lastTurn'

/**
 * Reports every requested field that the format lacks: those not in `carried`. Empty values, such as an empty list, are no loss.
 * Members of the caller's own family are always reported. Throws `untranslatable` where a loss would change the request: a search
 * where no tool remains, and a forced call without tools.
 */
export function loseAllBut(dialogue: Dialogue, context: RequestContext, carried: readonly Field[]): void {
  // If the format has no tools, none remain.
  const toolless = carried.includes('tools') ? dialogue : { ...dialogue, tools: [] }
  searchUnless(carried.includes('search') ? undefined : noSearch, toolless, context)
  if (!carried.includes('tools')) requireOtherTools({ ...toolless, search: undefined })
  if (dialogue.outputTokensMax === 0) {
    refuse(dialogue, 'outputTokensMax', { zh: '该协议必须产生输出', en: 'that protocol cannot ask for no output' })
  }
  if (!carried.includes('logprobs')) refuseLogprobs(dialogue)
  for (const field of askedFields(dialogue)) if (!carried.includes(field)) lose(dialogue, context, field)
  for (const [member, value] of Object.entries(dialogue.extra)) if (asksForSomething(value)) context.lose(member)
}

/**
 * Reports lost members that the neutral form does not pass to writers: unread nested members, and the validation of calls and the display
 * of thinking where `to` has no member for them.
 */
export function loseUnread(
  { from, reasoning, toolChoice, unread = [] }: Dialogue,
  context: RequestContext,
  to: { readonly showsReasoningAsAsked?: true; readonly validatesCalls?: true },
): void {
  for (const member of unread) context.lose(member)
  if (toolChoice?.kind === 'auto' && toolChoice.isValidated && !to.validatesCalls) context.lose(fieldNameFor(from, 'toolChoice'))
  if (!reasoning?.show || reasoning.mode === 'off' || to.showsReasoningAsAsked) return
  const caller = dialectOf(from)
  if (caller === 'anthropic') context.lose('thinking.display')
  // The other formats always show at least a summary of reasoning; Gemini callers get no reasoning unless they ask for it.
  if (caller === 'chat' && reasoning.show === 'none') context.lose('reasoning.exclude')
}

/**
 * Leaves out the tools that only the caller's vendor has, and reports them: clients offer them with every request. Throws
 * `untranslatable` if no other tool remains, if one of them is forced, and if the settings do not allow leaving tools out. See
 * docs/decisions/0027-unsupported-hosted-tools.md.
 */
export function leaveOutVendorTools(dialogue: Dialogue, context: RequestContext): void {
  requireOtherTools(dialogue)
  for (const tool of dialogue.vendorOnly ?? []) leaveOut(tool, context, true)
}

/** Throws `untranslatable` if a model of another vendor cannot do without the tools that only the caller's vendor has. */
export function requireOtherTools({ tools, search, toolChoice, vendorOnly = [] }: Dialogue): void {
  const left = new Set(vendorOnly.map(({ name }) => name))
  const chosen = toolChoice?.kind === 'tool' ? [toolChoice.name] : toolChoice?.kind === 'allowed' ? toolChoice.names : []
  const isDemanded = chosen.length > 0 && chosen.every((name) => left.has(`tools.${name}`))
  const remains = tools.length > 0 || search !== undefined
  const [first] = vendorOnly
  if (first && (!remains || isDemanded)) fail('untranslatable', { field: first.field, reason: first.reason })
}

/**
 * The web search of the request; undefined when there is none, or when it is left out because of `obstacle`. Throws
 * `untranslatable`.
 */
export function searchUnless(obstacle: Text | undefined, dialogue: Dialogue, context: RequestContext): Search | undefined {
  if (!dialogue.search || !obstacle) return dialogue.search
  const name = fieldNameFor(dialogue.from, 'search')
  leaveOut({ field: name, name, reason: obstacle }, context, dialogue.tools.length > 0)
  return undefined
}

function leaveOut({ field, name, reason }: VendorOnlyTool, context: RequestContext, mayGo: boolean): void {
  if (!mayGo || !context.settings.dropsHostedTools) fail('untranslatable', { field, reason })
  context.lose(name)
}

const noSearch: Text = { zh: '该协议没有网页搜索', en: 'that protocol has no web search' }

/** For formats whose replies have no log probabilities. Throws `untranslatable` if they are requested. */
export function refuseLogprobs(dialogue: Dialogue): void {
  if (dialogue.logprobs) refuse(dialogue, 'logprobs', { zh: '该协议没有对数概率', en: 'that protocol has no log probabilities' })
}

/** Reports a lost field by the caller's name for it. */
export function lose(dialogue: Dialogue, context: Pick<RequestContext, 'lose'>, field: Field): void {
  context.lose(fieldNameFor(dialogue.from, field))
}

/** A number in the range of the format. A change is reported, except a hundredth, by which some ranges exclude their ends. */
export function fitted(
  dialogue: Dialogue,
  context: RequestContext,
  [field, value]: readonly [Field, number | undefined],
  fit: (value: number) => number,
): number | undefined {
  if (value === undefined) return undefined
  const taken = fit(value)
  if (Math.abs(taken - value) > 0.0101) lose(dialogue, context, field)
  return taken
}

/** The caller's name of a field, as in their request. */
export function fieldNameFor(from: Format, field: Field): string {
  if (from === 'gemini.interactions') return interactionWords[field] ?? words[field].chat
  return words[field][dialectOf(from)]
}

function refuse({ from }: Dialogue, field: Field, reason: Text): never {
  fail('untranslatable', { field: fieldNameFor(from, field), reason })
}

function askedFields({ sampling, ...dialogue }: Dialogue): Field[] {
  const asked: Readonly<Record<Field, boolean>> = {
    temperature: sampling.temperature !== undefined,
    topP: sampling.topP !== undefined,
    topK: sampling.topK !== undefined,
    presencePenalty: Boolean(sampling.presencePenalty),
    frequencyPenalty: Boolean(sampling.frequencyPenalty),
    seed: sampling.seed !== undefined,
    stop: dialogue.stop.length > 0,
    outputTokensMax: dialogue.outputTokensMax !== undefined,
    reasoning: dialogue.reasoning !== undefined && dialogue.reasoning.mode !== 'auto',
    output: dialogue.output !== undefined,
    // They are refused where they are not carried.
    logprobs: false,
    search: dialogue.search !== undefined,
    tools: dialogue.tools.length > 0 && dialogue.toolChoice?.kind !== 'none',
    strictTools: dialogue.tools.some(({ strict }) => strict === true),
    toolChoice: dialogue.tools.length > 0 && dialogue.toolChoice !== undefined && dialogue.toolChoice.kind !== 'auto',
    parallelTools: dialogue.tools.length > 0 && dialogue.parallelTools === false,
    user: Boolean(dialogue.user),
    cacheKey: Boolean(dialogue.cacheKey),
    cache: hasCacheMarks(dialogue),
    detail: hasDetail(dialogue),
    // Writers of media report it.
    title: false,
    turns: false,
    lastTurn: false,
  }
  return fields.filter((field) => asked[field])
}

/** Whether there is a prompt-cache breakpoint anywhere in a conversation. */
export function hasCacheMarks({ system, turns, tools }: Pick<Dialogue, 'system' | 'turns' | 'tools'>): boolean {
  return (
    system.some(isMarked) || tools.some(({ cache }) => cache !== undefined) || turns.some(({ parts }) => parts.some(isMarked))
  )
}

/** Whether a prompt-cache breakpoint is on instructions, tools, earlier answers or empty results. */
export function hasPlacelessMarks({ system, turns, tools }: Pick<Dialogue, 'system' | 'turns' | 'tools'>): boolean {
  const placeless = turns.map(({ role, parts }) => ({
    role,
    parts: role === 'assistant' ? parts : parts.filter((part) => part.kind === 'tool-result' && part.parts.length === 0),
  }))
  return hasCacheMarks({ system, turns: placeless, tools })
}

function isMarked(part: Part): boolean {
  return (part.kind === 'tool-result' ? resultMark(part) : 'cache' in part ? part.cache : undefined) !== undefined
}

/** The prompt-cache breakpoint of a tool result as a whole: its own, or else the last one inside. */
export function resultMark({ cache, parts }: ToolResultPart): CacheMark | undefined {
  return cache ?? parts.findLast((part) => part.cache !== undefined)?.cache
}

/** Whether a level of detail is requested for any medium. */
function hasDetail({ turns }: Pick<Dialogue, 'turns'>): boolean {
  const isDetailed = (part: Part) => part.kind === 'media' && part.detail !== undefined && part.detail !== 'auto'
  return turns.some(({ parts }) =>
    parts.some((part) => isDetailed(part) || (part.kind === 'tool-result' && part.parts.some(isDetailed))),
  )
}

type CallerDialect = 'chat' | 'responses' | 'anthropic' | 'google'

function dialectOf(from: Format): CallerDialect {
  if (from.startsWith('anthropic.')) return 'anthropic'
  if (from.startsWith('gemini.') || from.startsWith('google.')) return 'google'
  return from.startsWith('openai.responses') ? 'responses' : 'chat'
}

const word = (chat: string, responses: string, anthropic: string, google: string) => ({ chat, responses, anthropic, google })
const everywhere = (name: string) => word(name, name, name, name)

const words: Readonly<Record<Field, Readonly<Record<CallerDialect, string>>>> = {
  temperature: everywhere('temperature'),
  topP: word('top_p', 'top_p', 'top_p', 'topP'),
  topK: word('top_k', 'top_k', 'top_k', 'topK'),
  presencePenalty: word('presence_penalty', 'presence_penalty', 'presence_penalty', 'presencePenalty'),
  frequencyPenalty: word('frequency_penalty', 'frequency_penalty', 'frequency_penalty', 'frequencyPenalty'),
  seed: everywhere('seed'),
  stop: word('stop', 'stop', 'stop_sequences', 'stopSequences'),
  outputTokensMax: word('max_tokens', 'max_output_tokens', 'max_tokens', 'maxOutputTokens'),
  reasoning: word('reasoning_effort', 'reasoning', 'thinking', 'thinkingConfig'),
  output: word('response_format', 'text.format', 'output_config.format', 'responseSchema'),
  logprobs: word('logprobs', 'top_logprobs', 'logprobs', 'generationConfig.responseLogprobs'),
  search: word('web_search_options', 'tools.web_search', 'tools.web_search', 'tools.googleSearch'),
  tools: everywhere('tools'),
  strictTools: everywhere('strict'),
  toolChoice: word('tool_choice', 'tool_choice', 'tool_choice', 'toolConfig'),
  parallelTools: word('parallel_tool_calls', 'parallel_tool_calls', 'tool_choice.disable_parallel_tool_use', 'toolConfig'),
  user: word('user', 'user', 'metadata.user_id', 'labels'),
  cacheKey: everywhere('prompt_cache_key'),
  cache: word('cache_control', 'prompt_cache_breakpoint', 'cache_control', 'cachedContent'),
  detail: word('detail', 'detail', 'detail', 'mediaResolution'),
  title: word('filename', 'filename', 'title', 'displayName'),
  turns: word('messages', 'input', 'messages', 'contents'),
  lastTurn: word('messages.last', 'input.last', 'messages.last', 'contents.last'),
}

/** Where an interaction has other names than Chat. */
const interactionWords: Readonly<Partial<Record<Field, string>>> = {
  stop: 'stop_sequences',
  outputTokensMax: 'max_output_tokens',
  reasoning: 'thinking_level',
  output: 'response_format',
  search: 'tools.google_search',
  user: 'labels',
  cache: 'cached_content',
  turns: 'input',
}

// `words` has a member for each field, so its keys are all fields.
const fields = Object.keys(words) as Field[]
