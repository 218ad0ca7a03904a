import type { RequestContext, WrittenRequest } from '../codec.ts'
import type { Dialogue, TextPart } from '../dialogue.ts'
import { type Field, loseAllBut } from '../lost-fields.ts'
import type { JsonObject } from '../wire-format.ts'
import { cachePoint, limitCachePoints } from './cache-points.ts'
import { type ConverseRules, converseRulesOf } from './models.ts'
import { writeInference } from './write-inference.ts'
import { writeMessages } from './write-messages.ts'
import { writeOutput } from './write-output.ts'
import { forcesTool, writeTools } from './write-tools.ts'

/**
 * A conversation in the form of Converse; the model and the choice of streaming are in the URL. Throws `untranslatable` where the
 * answer would be wrong, and reports other lost members through `context.lose`. Source: protocols notes 2.7 and 3.1 to 3.9.
 */
export function writeRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest {
  const rules = converseRulesOf(context.model)
  loseAllBut(dialogue, context, carriedBy(rules, dialogue))
  const inference = writeInference(dialogue, context, rules, { forcesTool: forcesTool(dialogue) })
  const { textFormat, answer, instruction } = writeOutput(dialogue, context, rules, inference.canForce)
  const tools = writeTools(dialogue, context, { rules, canForce: inference.canForce, answer })
  const instructions = instructionsOf(dialogue, [instruction, tools.instruction])
  const messages = writeMessages(dialogue, context, {
    rules,
    isThinking: inference.isThinking,
    instructions: rules.takesSystem ? [] : instructions,
    toUpstream: tools.toUpstream,
  })
  const system = rules.takesSystem ? systemOf(instructions, rules) : []
  const [toolList = [], systemList = [], ...contents] = limitCachePoints([
    tools.tools,
    system,
    ...messages.map(({ content }) => content),
  ])
  const outputConfig = { ...(textFormat ? { textFormat } : {}), ...(inference.effort ? { effort: inference.effort } : {}) }
  const asksStop = rules.claude !== undefined && inference.inferenceConfig.stopSequences !== undefined

  return {
    body: {
      messages: messages.map(({ role }, at) => ({ role, content: contents[at] })),
      ...(systemList.length > 0 ? { system: systemList } : {}),
      ...present('inferenceConfig', inference.inferenceConfig),
      ...(toolList.length > 0
        ? { toolConfig: { tools: toolList, ...(tools.toolChoice ? { toolChoice: tools.toolChoice } : {}) } }
        : {}),
      ...present('additionalModelRequestFields', inference.own),
      ...(asksStop ? { additionalModelResponseFieldPaths: stopSequencePaths } : {}),
      ...present('outputConfig', outputConfig),
    },
    ...(tools.toolNames.size > 0 ? { toolNames: tools.toolNames } : {}),
    ...(answer ? { answerTool: answer.name } : {}),
    ...(tools.customTools.size > 0 ? { customTools: tools.customTools } : {}),
    ...(dialogue.stream && toolList.length > 0 && !rules.streamsTools ? { isWhole: true } : {}),
  }
}

/** The stop sequence is only reported on request: at the top level of a non-streamed reply, or in `delta` in a stream. */
const stopSequencePaths = ['/stop_sequence', '/delta/stop_sequence']

/** Fields that are written, or reported as lost where they would be written. */
function carriedBy({ cache, claude }: ConverseRules, { tools }: Dialogue): Field[] {
  const takesMarks = cache === 'everywhere' || (cache === 'not-in-tools' && tools.every((tool) => !tool.cache))
  return [...judged, ...(takesMarks ? ['cache' as const] : []), ...(claude ? judgedForClaude : [])]
}

const judgedForClaude: readonly Field[] = ['presencePenalty', 'frequencyPenalty', 'seed']
const judged: readonly Field[] = [
  'temperature',
  'topP',
  'topK',
  'stop',
  'outputTokensMax',
  'reasoning',
  'output',
  'tools',
  'strictTools',
  'toolChoice',
]

function instructionsOf({ system }: Dialogue, more: readonly (string | undefined)[]): TextPart[] {
  const added = more.flatMap((text) => (text === undefined ? [] : [{ kind: 'text' as const, text }]))
  return [...system.filter(({ text }) => text.trim() !== ''), ...added]
}

function systemOf(instructions: readonly TextPart[], rules: ConverseRules): JsonObject[] {
  return instructions.flatMap(({ text, cache }) => [{ text }, ...cachePoint(cache, rules)])
}

function present(member: string, value: JsonObject): JsonObject {
  return Object.keys(value).length > 0 ? { [member]: value } : {}
}
