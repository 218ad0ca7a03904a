import { noUsage, promptTokens, type Usage } from '../../../../contract/usage.ts'
import { readResponseUsage } from '../openai-responses/usage.ts'
import { collectText, readModel, requireArray, requirePresent } from '../read-request.ts'
import { arrayAt, isObject, type JsonObject, type WireFormat } from '../wire-format.ts'
import { directFacts } from './direct-facts.ts'

/**
 * OpenAI Decisions: typed questions about one input, each answered with probabilities. Its vendor charges every token of the input
 * alike, cached or not, and no output. Sources: types of the official SDK 7.57; https://apidog.com/blog/openai-decisions-api and
 * OpenRouter's price of `gpt-6-luna-decisions`, read 2026-11.
 */
export const openAiDecisions: WireFormat = {
  format: 'openai.decisions',
  dialect: 'openai',

  readRequest(body) {
    requirePresent(body, 'input')
    requireArray(body, 'questions')
    return directFacts(readModel(body), { outputTokensMax: outputLimitOf(body), mediaParts: readPrompt(body).media })
  },

  promptText: (body) => readPrompt(body).texts,
  answerIn: 'answers',
  isEmpty: (reply) => arrayAt(reply, 'answers').length === 0,
  readUsage: readInputUsage,
  replyText: () => '',
  stream: null,
}

/** Models with the endpoint; calls to others are translated. A channel of the type "advanced custom" is called with any model. */
export function answersDecisions(model: string): boolean {
  return /(^|\/)gpt-\d+(\.\d+)?-luna($|-)/.test(model)
}

function readInputUsage(reply: JsonObject): Usage | undefined {
  const usage = readResponseUsage(reply)
  return usage && { ...noUsage, input: promptTokens(usage) }
}

function readPrompt({ input, questions }: JsonObject): { texts: string[]; media: number } {
  const found = { texts: [] as string[], media: 0 }
  collectText(input, found)
  collectText(questions, found)
  return found
}

/**
 * The output limit of the call where it is translated: a number for each option of each question, and space for the reasoning of
 * models that cannot do without. Where it is not translated, no output is charged.
 */
export function outputLimitOf(body: JsonObject): number {
  return arrayAt(body, 'questions').reduce<number>((sum, question) => sum + 32 + 8 * optionsOf(question), 4_096)
}

/** The bytes by which the prompt grows in translation: the instructions, and the questions with the schema of their answers. */
export function translatedBytes(body: JsonObject): number {
  const questions = arrayAt(body, 'questions')
  if (questions.length === 0) return 0
  const items = arrayAt(body, 'input').length
  return questions.reduce<number>((sum, question) => sum + 256 + 32 * optionsOf(question), 4_096 + 64 * items)
}

function optionsOf(question: unknown): number {
  if (!isObject(question)) return 1
  return Math.max(1, arrayAt(question, 'choices').length, arrayAt(question, 'levels').length)
}
