import { describe, expect, it } from 'vitest'
import { assistantTurn, dialogueOf, toolTurns, userTurn } from '../../../test/helpers/codecs.ts'
import type { MediaPart, Turn } from './dialogue.ts'
import { apartFromTools, plainMessages, requireLastFromUser, startingWithUser, userText } from './plain-messages.ts'

const head = [
  { kind: 'text' as const, text: 'x-anthropic-billing-header: cc_version=2; cch=1a2b' },
  { kind: 'text' as const, text: 'One' },
  { kind: 'text' as const, text: '' },
  { kind: 'text' as const, text: 'Two' },
]
const image: MediaPart = { kind: 'media', media: 'image', source: { kind: 'url', url: 'https://a.example/b.png' } }
const late: Turn = { role: 'system', parts: [{ kind: 'text', text: 'Late' }] }
const shown = (rule: Parameters<typeof plainMessages>[1], turns: readonly Turn[]) =>
  plainMessages(dialogueOf({ system: head, turns }), rule).map((message) =>
    message.role === 'user' ? `user: ${userText(message.parts)}` : `${message.role}: ${message.text}`,
  )

describe('plain messages', () => {
  it('have instructions where the format allows them', () => {
    const turns = [userTurn('Hi'), late, userTurn('Go')]
    expect(shown({ system: 'anywhere', tools: true }, turns)).toEqual([
      'system: One\n\nTwo',
      'user: Hi',
      'system: Late',
      'user: Go',
    ])
    const reminder = '<system-reminder>\nLate\n</system-reminder>'
    expect(shown({ system: 'head', tools: true }, turns)).toEqual(['system: One\n\nTwo', `user: Hi\n${reminder}\nGo`])
    expect(shown({ system: 'never', tools: true }, turns)).toEqual([`user: One\n\nTwo\nHi\n${reminder}\nGo`])
  })

  it("have tool results before the user's text, as text where the format has no tool messages", () => {
    const [call, result] = toolTurns()
    const turns = [
      userTurn('Tide?'),
      ...(call && result ? [call, { ...result, parts: [{ kind: 'text' as const, text: 'Well?' }, ...result.parts] }] : []),
    ]
    expect(shown({ system: 'anywhere', tools: true }, turns).slice(1)).toEqual([
      'user: Tide?',
      'assistant: ',
      'tool: high',
      'user: Well?',
    ])
    expect(shown({ system: 'anywhere', tools: false }, turns).slice(1)).toEqual([
      'user: Tide?',
      'assistant: [Called the tool get_tide with {"port":"Rye"}]',
      'user: [The tool get_tide answered] high\nWell?',
    ])
  })

  it('[87] mention an image of a tool result in it, and send the image after it', () => {
    const [call, result] = toolTurns()
    const [part] = result?.parts ?? []
    const seen: Turn = { role: 'user', parts: part?.kind === 'tool-result' ? [{ ...part, parts: [image] }] : [] }
    const messages = plainMessages(dialogueOf({ turns: [userTurn('Look'), ...(call ? [call] : []), seen] }), {
      system: 'head',
      tools: true,
    })
    expect(messages.slice(-2)).toEqual([
      { role: 'tool', callId: 'call_1', name: 'get_tide', text: '[image attached]' },
      { role: 'user', parts: [image] },
    ])
  })

  it('join pieces of one text, and separate texts before and after a call', () => {
    const [call] = toolTurns()
    const text = (value: string) => ({ kind: 'text' as const, text: value })
    const parts = [text('The har'), text('bor.'), ...(call?.parts ?? []), text('Done.')]
    expect(shown({ system: 'head', tools: true }, [userTurn('Hi'), { role: 'assistant', parts }])[2]).toBe(
      'assistant: The harbor.\n\nDone.',
    )
  })

  it('start with the user, end with the user, and have a model message after a tool result, where required', () => {
    const messages = plainMessages(dialogueOf({ turns: [assistantTurn('Hi')] }), { system: 'head', tools: true })
    expect(startingWithUser(messages).map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(() => requireLastFromUser(dialogueOf(), messages)).toThrow('messages')
    const spoken = plainMessages(dialogueOf({ turns: [userTurn('Hi'), ...toolTurns(), userTurn('Go')] }), {
      system: 'head',
      tools: true,
    })
    expect(apartFromTools(spoken).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user'])
  })
})
