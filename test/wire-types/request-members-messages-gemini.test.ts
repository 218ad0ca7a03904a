import { describe, expect, it } from 'vitest'
import { type Row, rowsOf } from './request-members.ts'
import { withRequestTypes } from './request-types.ts'

/**
 * Every member of the newest SDKs' request types on its way to each other dialect is carried, named or refused. What is none of these
 * has no effect there, and is listed here with the reason.
 */
type WithoutEffect = readonly (readonly [pattern: RegExp, reason: string])[]

const anthropicWithoutEffect: WithoutEffect = [
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

const geminiWithoutEffect: WithoutEffect = [
  [
    /^contents\[\]\.parts\[\]\.(toolCall|toolResponse|executableCode|codeExecutionResult)\.id /,
    'a past use is told as text, with its result behind it',
  ],
  [/^contents\[\]\.parts\[\]\.executableCode\.language /, 'the tool runs only one language'],
  [/^systemInstruction\.parts\[\]\.(thought|thoughtSignature) /, 'instructions are no thoughts of a model'],
  [/^systemInstruction\.role /, 'instructions have no role'],
  [/^tools\[\]\.googleSearch\.searchTypes\.webSearch /, 'it is the default kind of search'],
  [/^generationConfig\.logprobs -> openai\.responses/, 'it counts only beside responseLogprobs, which is named'],
  [
    /^generationConfig\.thinkingConfig\.includeThoughts /,
    'it is about the answer, which shows thoughts only if it asks for them',
  ],
]

describe('the members of the request types of the SDKs', () => {
  it.each([
    ['anthropic.messages', anthropicWithoutEffect],
    ['gemini.generate', geminiWithoutEffect],
  ] as const)('[288] of %s are carried, named or refused in every other dialect', (from, withoutEffect) => {
    const rows = withRequestTypes((types) => rowsOf(types, from))
    expect(rows.length).toBeGreaterThan(200)
    const lines = [...new Set(rows.flatMap(silentLines))]
    const isListed = (line: string) => withoutEffect.some(([pattern]) => pattern.test(line))
    expect(lines.filter((line) => !isListed(line)).sort()).toEqual([])
    // A list holds nothing that is carried, named or refused by now.
    expect(withoutEffect.filter(([pattern]) => !lines.some((line) => pattern.test(line)))).toEqual([])
  })
})

/** One line for each dialect in which a member is lost without a word. */
function silentLines({ path, fates }: Row): string[] {
  return Object.entries(fates).flatMap(([to, fate]) => (fate === 'silent' ? [`${path} -> ${to}`] : []))
}
