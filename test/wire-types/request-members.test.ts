import { describe, expect, it } from 'vitest'
import { type Row, rowsOf } from './request-members.ts'
import { dialects } from './request-samples.ts'
import { withRequestTypes } from './request-types.ts'

/**
 * Every member of the newest SDKs' request types on its way to each other dialect is carried, named or refused. What is none of these
 * has no effect there, and is listed here with the reason.
 */
const withoutEffect: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^openai\.\w+ stream_options/, 'it is about streams only, which the usage always ends'],
  [/^openai\.chat response_format\{type:text\}/, 'it is the default'],
  [/^openai\.responses text\.format\{type:text\}/, 'it is the default'],
  [/^openai\.(chat|responses) store$/, 'this server stores what it promises to store, and upstreams nothing'],
  [
    /^openai\.responses input\[\]\{type:message\}\.content\[\]\{type:output_text\}\.(annotations|logprobs)/,
    'past citations have no effect',
  ],
  [/^openai\.responses input\[\]\{type:message\}\.(id|status)$/, 'ids and states of items are those of their vendor'],
  [/^openai\.responses input\[\]\{type:\w+\}\.(id|status)$/, 'ids and states of items are those of their vendor'],
  [/^openai\.responses input\[\]\{type:reasoning\}/, 'reasoning of another model is not sent'],
  [/^openai\.responses include/, 'encrypted reasoning is always requested'],
  [
    /^anthropic\.messages messages\[\]\{role:user\}\.content\[\]\{type:(thinking|redacted_thinking)\}/,
    'reasoning of another model is not sent',
  ],
  [/^anthropic\.messages messages\[\]\{role:user\}\.content\[\].*\.citations/, 'past citations have no effect'],
  [/^anthropic\.messages messages\[\]\{role:user\}\.content\[\].*\.caller/, 'callers of past tools have no effect'],
  [
    /^anthropic\.messages messages\[\]\{role:user\}\.content\[\]\{type:(fallback|tool_search_tool_result)\}/,
    'its tools are in the request',
  ],
  [/^anthropic\.messages tools\[\].*\.(defer_loading|eager_input_streaming)$/, 'all tools are sent, and their input is the same'],
  [/^anthropic\.messages tools\[\].*\.allowed_callers/, 'the model itself calls tools'],
  [
    /^gemini\.generate (contents|systemInstruction)\[?\]?\.parts\[\]\.(thought|thoughtSignature)$/,
    'state of another model is not sent',
  ],
  [/^gemini\.generate systemInstruction\.role/, 'instructions have no role'],
  [
    /^gemini\.generate contents\[\]\.parts\[\]\.(executableCode|codeExecutionResult|toolCall|toolResponse)\.(id|language)/,
    'past uses are told as text',
  ],
  [/^gemini\.generate generationConfig\.thinkingConfig\.includeThoughts/, 'thoughts are always requested where they are shown'],
  [/^openai\.responses reasoning\.(summary|generate_summary)/, 'a summary is shown wherever the model tells one'],
  [/^openai\.chat tools\[\]\{type:custom\}\.custom\.format\{type:text\}/, 'it is the default'],
  [/^openai\.responses tools\[\].*\.format\{type:text\}/, 'it is the default'],
  [/^openai\.responses tools\[\].*\.defer_loading$/, 'all tools are sent'],
  [/^openai\.(chat|responses) .*\{type:json_schema\}.*\.strict$/, 'the format always enforces a schema'],
  [/^[a-z.]+ .*\.type$/, 'it is the type by default'],
]

describe('the members of the request types of the SDKs', () => {
  it.each(dialects)('[288] of %s are carried, named or refused in every other dialect', (from) => {
    const rows = withRequestTypes((types) => rowsOf(types, from))
    expect(rows.length).toBeGreaterThan(60)
    const lines = rows.flatMap(silentLines)
    const isListed = (line: string) => withoutEffect.some(([pattern]) => pattern.test(line))
    expect([...new Set(lines.filter((line) => !isListed(line)))].sort()).toEqual([])
  })
})

/** One line for each dialect in which a member is lost without a word. */
function silentLines({ from, path, fates }: Row): string[] {
  return Object.entries(fates).flatMap(([to, fate]) => (fate === 'silent' ? [`${from} ${path} -> ${to}`] : []))
}
