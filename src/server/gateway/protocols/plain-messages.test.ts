import { describe, expect, it } from 'vitest'
import {
  assistant,
  call,
  dialogueOf,
  image,
  instruction,
  result,
  text,
  toolTurns,
  user,
} from '../../../../test/helpers/dialogue.ts'
import type { Dialogue, Turn } from './dialogue.ts'
import { apartFromTools, plainMessages, requireMessage, startingWithUser, userText } from './plain-messages.ts'

const head = [text('x-anthropic-billing-header: cc_version=2; cch=1a2b'), text('One'), text(''), text('Two')]
type Rule = Omit<Parameters<typeof plainMessages>[2], 'lastTurn'>
const plain = (dialogue: Dialogue, rule: Rule) => plainMessages(dialogue, { lose: () => {} }, { ...rule, lastTurn: 'complete' })
const shown = (rule: Rule, turns: readonly Turn[]) =>
  plain(dialogueOf({ system: head, turns }), rule).map((message) =>
    message.role === 'user' ? `user: ${userText(message.parts)}` : `${message.role}: ${message.text}`,
  )

describe('plain messages', () => {
  it('have instructions where the format allows them', () => {
    const turns = [user('Hi'), instruction('Late'), user('Go')]
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
    const turns = [user('Tide?'), assistant(call('1')), user('Well?', result('1', 'high'))]
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
    const turns = [user('Look'), assistant(call('call_1')), user(result('call_1', image()))]
    const messages = plain(dialogueOf({ turns }), { system: 'head', tools: true })
    expect(messages.slice(-2)).toEqual([
      { role: 'tool', callId: 'call_1', name: 'get_tide', text: '[image attached]' },
      { role: 'user', parts: [image()] },
    ])
  })

  it('join pieces of one text, and separate texts before and after a call', () => {
    const said = assistant('The har', 'bor.', call('1'), 'Done.')
    expect(shown({ system: 'head', tools: true }, [user('Hi'), said])[2]).toBe('assistant: The harbor.\n\nDone.')
  })

  it('start with the user, have a message, and have a model message after a tool result, where required', () => {
    const rule = { system: 'head', tools: true } as const
    const messages = plain(dialogueOf({ turns: [assistant('Hi')] }), rule)
    expect(startingWithUser(messages).map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(() => requireMessage(dialogueOf(), messages)).not.toThrow()
    expect(() => requireMessage(dialogueOf(), plain(dialogueOf({ system: head, turns: [] }), rule))).toThrow('messages')
    const spoken = plain(dialogueOf({ turns: [user('Hi'), ...toolTurns(), user('Go')] }), rule)
    expect(apartFromTools(spoken).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user'])
  })
})
