import { describe, expect, it } from 'vitest'
import { type Row, rowsOf } from './request-members.ts'
import { type Dialect, dialects } from './request-samples.ts'
import { withRequestTypes } from './request-types.ts'

/**
 * Every member of the newest SDKs' request types on its way to each other dialect is carried, named or refused. What is none of these
 * has no effect there, and is listed here with the reason, by the dialect of the request.
 */
type WithoutEffect = readonly (readonly [line: RegExp, reason: string])[]

const chat: WithoutEffect = [
  [/^stream_options\.(include_usage|include_obfuscation) /, 'it is about streams only, which the usage always ends'],
  [/^response_format\{type:text\} /, 'it is the default'],
  [/^tools\[\]\{type:custom\}\.custom\.format\{type:text\} /, 'it is the default'],
  [
    /^response_format\{type:json_schema\}\.json_schema\.strict -> (anthropic\.messages|gemini\.generate)$/,
    'the format always enforces a schema',
  ],
]

const responses: WithoutEffect = [
  [/^stream_options\.include_obfuscation /, 'it is about streams only'],
  [/^store /, 'this server keeps the replies that it promises to keep, whatever the upstream is'],
  [/^text\.format\{type:text\} /, 'it is the default'],
  [/^text\.format\{type:json_schema\}\.strict -> (anthropic\.messages|gemini\.generate)$/, 'the format always enforces a schema'],
  [/^reasoning\.(summary|generate_summary) -> openai\.chat$/, 'a summary is shown wherever the model tells one'],
  [/^tools\[\](\{type:namespace\}\.tools\[\])?\{type:(custom|function)\}\.defer_loading /, 'all tools are sent'],
  [/^tools\[\](\{type:namespace\}\.tools\[\])?\{type:custom\}\.format\{type:text\} /, 'it is the default'],
  [/^tools\[\]\{type:web_search\}\.user_location\{type:approximate\}\.type /, 'it is the only type'],
  [/^input\[\]\{type:message\}\.type /, 'it is the type by default'],
  [/^input\[\]\{type:message\}\.content\[\]\{type:output_text\}\.annotations\[\]\{type:\w+\} /, 'past citations have no effect'],
  [/^input\[\]\{type:message\}\.content\[\]\{type:output_text\}\.logprobs\[\] /, 'past probabilities have no effect'],
  [
    /^input\[\]\{type:(apply_patch|computer|custom_tool|function|shell)_call(_output)?\}\.id /,
    'ids of items are those of their vendor: calls and results are matched by `call_id`',
  ],
  [/^input\[\]\{type:mcp_approval_response\}\.id /, 'ids of items are those of their vendor'],
  [/^input\[\]\{type:mcp_call\}\.approval_request_id /, 'ids of items are those of their vendor'],
  [
    /^input\[\]\{type:(computer_call_output|function_call|function_call_output|local_shell_call_output|mcp_call)\}\.status /,
    'the model reads the item itself',
  ],
  [/^input\[\]\{type:(shell_call|shell_call_output)\}\.status /, 'the model reads the item itself'],
  [/^input\[\]\{type:function_call_output\}\.call_id /, 'a result without an id answers the open call'],
  [
    /^input\[\]\{type:(apply_patch|shell)_call(_output)?\}\.caller\{type:(direct|program)\} /,
    'who made a past call has no effect',
  ],
  [/^input\[\]\{type:shell_call\}\.environment\{type:(container_reference|local)\} /, 'where a past call ran has no effect'],
  [/^input\[\]\{type:shell_call_output\}\.max_output_length /, 'the output is already cut'],
  [/^input\[\]\{type:computer_call\}\.pending_safety_checks\[\] /, 'the caller has answered them'],
  [
    /^input\[\]\{type:image_generation_call\}\.(action|background|output_format|quality|size|svg_usage) -> (openai\.chat|anthropic\.messages)$/,
    'how a past image was made; its type is that of its bytes',
  ],
  [/^input\[\]\{type:reasoning\} /, 'reasoning of another model is not sent'],
  [/^input\[\]\{type:tool_search_call\} /, 'its vendor ran the search; the tools that it found are sent'],
]

const messages: WithoutEffect = [
  [
    /^messages\[\]\{role:assistant\}\.content\[\]\{type:(thinking|redacted_thinking)\} /,
    'the thinking of another model is not sent',
  ],
  [/^messages\[\]\{role:assistant\}\.content\[\]\{type:fallback\} /, 'it marks where another model went on with the answer'],
  [
    /^messages\[\]\{role:assistant\}\.content\[\]\{type:tool_search_tool_result\} /,
    'the tools that it found are in the tools of the request',
  ],
  [/\.caller\{type:(direct|code_execution_20250825|code_execution_20260120)\} /, 'it says who made a past call'],
  [/\.citations\[\]\{type:\w+_location\} /, 'it says from where a past answer cites'],
  [
    /^messages\[\]\{role:system\}\.content\[\]\{type:tool_(addition|removal)\}\.tool\{type:mcp_tool(set)?_reference\} /,
    'a request with the server of the tool is refused, or the server is named',
  ],
  [/^thinking\{type:adaptive\} -> openai\./, 'it is what these models do by default'],
  [/^thinking\{type:(disabled|between_tools)\} -> openai\.chat/, 'a model without reasoning has none to turn off'],
  [/^thinking\{type:enabled\}\.display -> openai\.responses/, 'a summary is what the format shows'],
  [/^tools\[\]\{type:custom\}\.eager_input_streaming /, 'the input is the same, and comes as the upstream sends it'],
  [/^tools\[\]\{type:custom\}\.type /, 'it is the default type of a tool'],
]

const generate: WithoutEffect = [
  [
    /^contents\[\]\.parts\[\]\.(toolCall|toolResponse|executableCode|codeExecutionResult)\.id /,
    'a past use is told as text, with its result behind it',
  ],
  [/^contents\[\]\.parts\[\]\.executableCode\.language /, 'the tool runs only one language'],
  [/^systemInstruction\.parts\[\]\.(thought|thoughtSignature) /, 'instructions are no thoughts of a model'],
  [/^systemInstruction\.role /, 'instructions have no role'],
  [/^generationConfig\.logprobs -> openai\.responses/, 'it counts only beside responseLogprobs, which is named'],
  [
    /^generationConfig\.thinkingConfig\.includeThoughts /,
    'it is about the answer, which shows thoughts only if it asks for them',
  ],
]

const tables: Readonly<Record<Dialect, WithoutEffect>> = {
  'openai.chat': chat,
  'openai.responses': responses,
  'anthropic.messages': messages,
  'gemini.generate': generate,
}

describe('the members of the request types of the SDKs', () => {
  it.each(dialects)('[288] of %s are carried, named or refused in every other dialect', (from) => {
    const withoutEffect = tables[from]
    const rows = withRequestTypes((types) => rowsOf(types, from))
    expect(rows.length).toBeGreaterThan(60)
    const lines = [...new Set(rows.flatMap(silentLines))].sort()
    expect(lines.filter((line) => !withoutEffect.some(([pattern]) => pattern.test(line)))).toEqual([])
    expect(withoutEffect.filter(([pattern]) => !lines.some((line) => pattern.test(line)))).toEqual([])
  })
})

/** One line for each dialect in which a member is lost without a word. */
function silentLines({ path, fates }: Row): string[] {
  return Object.entries(fates).flatMap(([to, fate]) => (fate === 'silent' ? [`${path} -> ${to}`] : []))
}
