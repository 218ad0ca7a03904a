import { describe, expect, it } from 'vitest'
import { type Row, rowsOf } from './request-members.ts'
import type { Dialect } from './request-samples.ts'
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
  [/^messages\[\]\{role:user\}\.content\[\]\{type:(thinking|redacted_thinking)\}/, 'reasoning of another model is not sent'],
  [/^messages\[\]\{role:user\}\.content\[\].*\.citations/, 'past citations have no effect'],
  [/^messages\[\]\{role:user\}\.content\[\].*\.caller/, 'who made a past call has no effect'],
  [/^messages\[\]\{role:user\}\.content\[\]\{type:(fallback|tool_search_tool_result)\}/, 'its tools are in the request'],
  [/^tools\[\].*\.(defer_loading|eager_input_streaming) /, 'all tools are sent, and their input is the same'],
  [/^tools\[\].*\.allowed_callers/, 'the model itself calls tools'],
]

const generate: WithoutEffect = [
  [/^(contents|systemInstruction)\[?\]?\.parts\[\]\.(thought|thoughtSignature) /, 'state of another model is not sent'],
  [/^systemInstruction\.role /, 'instructions have no role'],
  [
    /^contents\[\]\.parts\[\]\.(executableCode|codeExecutionResult|toolCall|toolResponse)\.(id|language) /,
    'past uses are told as text',
  ],
  [/^generationConfig\.thinkingConfig\.includeThoughts /, 'thoughts are always requested where they are shown'],
]

const tables: Readonly<Record<Dialect, WithoutEffect>> = {
  'openai.chat': chat,
  'openai.responses': responses,
  'anthropic.messages': messages,
  'gemini.generate': generate,
}

describe('the members of the request types of the SDKs', () => {
  it.each(['openai.chat', 'openai.responses'] as const)(
    '[288] of %s are carried, named or refused in every other dialect',
    (from) => {
      const withoutEffect = tables[from]
      const rows = withRequestTypes((types) => rowsOf(types, from))
      expect(rows.length).toBeGreaterThan(60)
      const lines = [...new Set(rows.flatMap(silentLines))].sort()
      expect(lines.filter((line) => !withoutEffect.some(([pattern]) => pattern.test(line)))).toEqual([])
      expect(withoutEffect.filter(([pattern]) => !lines.some((line) => pattern.test(line)))).toEqual([])
    },
  )
})

/** One line for each dialect in which a member is lost without a word. */
function silentLines({ path, fates }: Row): string[] {
  return Object.entries(fates).flatMap(([to, fate]) => (fate === 'silent' ? [`${path} -> ${to}`] : []))
}
