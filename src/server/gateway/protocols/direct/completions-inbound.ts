import type { Usage } from '../../../../contract/usage.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { Inbound, WriteContext } from '../codec.ts'
import type { Dialogue } from '../dialogue.ts'
import { writeError } from '../openai-chat/reply-write.ts'
import { commonMembers, readCommonMembers, refuseManyChoices } from '../openai-chat/request-read.ts'
import { writeChatUsage } from '../openai-chat/usage.ts'
import { ChatDeltas } from '../openai-chat/write-deltas.ts'
import type { FinishReason, ReplyEvent } from '../reply-events.ts'
import { type JsonObject, textAt } from '../wire-format.ts'

/**
 * Legacy Completions for upstreams that only support conversations: the prompt becomes the user's message, the text is the answer.
 * Features without an equivalent are refused: several prompts, token numbers, `suffix`, `echo` and `best_of`. Source: protocols
 * notes 1.2.
 */
export const completionsInbound: Inbound = {
  readRequest(body): Dialogue {
    refuseManyChoices(body)
    refuseUntranslatable(body)
    return {
      ...readCommonMembers(body, 'openai.completions', knownMembers),
      system: [],
      turns: [{ role: 'user', parts: [{ kind: 'text', text: readPrompt(body.prompt).toWellFormed() }] }],
      tools: [],
      toolChoice: undefined,
      parallelTools: undefined,
      reasoning: undefined,
      output: undefined,
      search: undefined,
      usesFunctions: false,
    }
  },

  writeReply(events, context) {
    const deltas = new ChatDeltas(false)
    const text = events.map((event) => textOf(deltas, event)).join('')
    const finish = events.findLast((event) => event.type === 'finish')
    const usage = events.findLast((event) => event.type === 'usage')?.usage
    return {
      ...head(context),
      choices: [choice(text, finishWordOf(deltas, finish?.reason ?? 'stop'))],
      ...(usage ? { usage: writeChatUsage(usage) } : {}),
    }
  },

  writeEvents(context) {
    const deltas = new ChatDeltas(false)
    const { wantsUsage } = context.dialogue
    let finishWord = 'stop'
    let usage: Usage | undefined
    const piece = (members: JsonObject) => `data: ${JSON.stringify({ ...head(context), ...members })}\n\n`
    const chunk = (text: string, finish: string | null) =>
      piece({ choices: [choice(text, finish)], ...(wantsUsage ? { usage: null } : {}) })

    return {
      push(event) {
        if (event.type === 'error') return writeError(event.error, context)
        if (event.type === 'usage') usage = event.usage
        if (event.type === 'finish') finishWord = finishWordOf(deltas, event.reason)
        if (event.type === 'end') {
          const usageText = wantsUsage && usage ? piece({ choices: [], usage: writeChatUsage(usage) }) : ''
          return `${chunk('', finishWord)}${usageText}data: [DONE]\n\n`
        }
        const text = textOf(deltas, event)
        return text === '' ? '' : chunk(text, null)
      },
    }
  },
}

const knownMembers: ReadonlySet<string> = new Set([...commonMembers, 'prompt', 'suffix', 'echo', 'best_of', 'logprobs'])

function refuseUntranslatable(body: JsonObject): void {
  const asks = {
    suffix: textAt(body, 'suffix') !== '',
    echo: body.echo === true,
    best_of: typeof body.best_of === 'number' && body.best_of > 1,
    logprobs: typeof body.logprobs === 'number',
  }
  for (const [field, isAsked] of Object.entries(asks)) {
    if (isAsked)
      fail('untranslatable', { field, reason: { zh: '对话中没有对应的概念', en: 'a conversation knows nothing like it' } })
  }
}

function readPrompt(prompt: unknown): string {
  const [first, ...others] = Array.isArray(prompt) ? prompt : [prompt]
  const reason = { zh: '只能是一段文本', en: 'only one text can be asked' }
  if (typeof first !== 'string' || others.length > 0) fail('untranslatable', { field: 'prompt', reason })
  if (first === '') fail('field_invalid', { field: 'prompt', reason: { zh: '不能为空', en: 'must not be empty' } })
  return first
}

/** Text and refusals; this format has no reasoning or calls. */
function textOf(deltas: ChatDeltas, event: ReplyEvent): string {
  const delta = deltas.read(event)
  return delta ? textAt(delta, 'content') + textAt(delta, 'refusal') : ''
}

/** This format has no calls. */
function finishWordOf(deltas: ChatDeltas, reason: FinishReason): string {
  return deltas.finishWord(reason === 'tool-calls' ? 'stop' : reason)
}

function head({ id, createdAt, model }: WriteContext): JsonObject {
  return { id: `cmpl-${id}`, object: 'text_completion', created: createdAt, model }
}

function choice(text: string, finishWord: string | null): JsonObject {
  return { text, index: 0, logprobs: null, finish_reason: finishWord }
}
