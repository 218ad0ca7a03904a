import { fail } from '../../../base/lib/failure.ts'
import { isFinished, readCommonFacts, readReportedUsage, readStreamError, renameTopLevelModel } from '../openai-chat/chat.ts'
import { requirePresent } from '../read-request.ts'
import { arrayAt, isObject, type JsonObject, textAt, type WireFormat } from '../wire-format.ts'

/** OpenAI Completions (legacy). The stream frames are those of Chat, with `text` pieces. Source: SDK 7.55 types, 2026-11. */
export const openAiCompletions: WireFormat = {
  format: 'openai.completions',
  dialect: 'openai',

  readRequest(body) {
    requirePresent(body, 'prompt')
    const prompts = Array.isArray(body.prompt) && typeof body.prompt[0] !== 'number' ? body.prompt.length : 1
    if (prompts === 0 || prompts > 2048) fail('field_invalid', { field: 'prompt', reason: 'between 1 and 2048 prompts' })
    const facts = readCommonFacts(body, 0)
    const { outputTokensMax, completions = 1 } = facts
    return {
      ...facts,
      outputTokensMax: outputTokensMax === undefined ? undefined : outputTokensMax * prompts,
      completions: completions * prompts,
    }
  },

  promptText: (body) => promptTexts(body.prompt),
  answerIn: 'choices',
  isEmpty: (reply) =>
    arrayAt(reply, 'choices')
      .filter(isObject)
      .every((choice) => typeof choice.text !== 'string' && !isFinished(choice)),
  readUsage: readReportedUsage,
  replyText: (reply) => choiceTexts(reply).join('\n'),

  stream: {
    marks: /"usage"\s*:\s*\{|"error"|\[DONE\]/g,
    hasNamedEvents: false,
    isTerminal: (event) => event.data.trim() === '[DONE]',
    terminalText: 'data: [DONE]\n\n',
    readUsage: (data, before) => readReportedUsage(data) ?? before,
    reportsUsageOnRequest: true,
    isUsageOnly: (data) => arrayAt(data, 'choices').length === 0 && isObject(data.usage),
    hasOutput: (data) => choiceTexts(data).some((text) => text !== '') || hasFinish(data),
    isFinish: hasFinish,
    deltaText: (data) => choiceTexts(data).join(''),
    readError: readStreamError,
    replay: ({ usage, ...reply }) => [reply, ...(usage ? [{ ...reply, choices: [], usage }] : [])],
    gather: gatherTexts,
    renameModel: renameTopLevelModel,
    heartbeat: ': keep-alive\n\n',
  },
}

function choiceTexts(reply: JsonObject): string[] {
  return arrayAt(reply, 'choices')
    .filter(isObject)
    .map((choice) => textAt(choice, 'text'))
}

function hasFinish(data: JsonObject): boolean {
  return arrayAt(data, 'choices').filter(isObject).some(isFinished)
}

/** Joins the chunks of a stream into one reply. */
function gatherTexts(pieces: readonly JsonObject[]): JsonObject {
  const choices = new Map<unknown, JsonObject>()
  let head: JsonObject = {}
  for (const { choices: some, ...rest } of pieces) {
    head = { ...head, ...rest }
    for (const piece of Array.isArray(some) ? some.filter(isObject) : []) {
      const before = choices.get(piece.index) ?? {}
      choices.set(piece.index, { ...piece, text: textAt(before, 'text') + textAt(piece, 'text') })
    }
  }
  return { ...head, choices: [...choices.values()] }
}

/** A prompt is a text, texts, token numbers or lists of them; a token number counts as one token, written as one letter. */
export function promptTexts(prompt: unknown): string[] {
  if (typeof prompt === 'string') return [prompt]
  if (!Array.isArray(prompt)) return []
  if (prompt.every((entry) => typeof entry === 'number')) return [' a'.repeat(prompt.length)]
  return prompt.flatMap(promptTexts)
}
