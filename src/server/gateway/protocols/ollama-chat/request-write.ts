import type { RequestContext, WrittenRequest } from '../codec.ts'
import type { Dialogue, MediaPart } from '../dialogue.ts'
import { callObject, type FunctionTools, functionTools, undoing, writeFunction } from '../function-tools.ts'
import { describedSchema } from '../json-answer.ts'
import { type Field, lose, loseAllBut } from '../lost-fields.ts'
import { mediaOf, type PlainMessage, plainMessages, refuseMedia, replaysReasoning, userText } from '../plain-messages.ts'
import { levelOf } from '../reasoning-level.ts'
import { definedMembers, type JsonObject } from '../wire-format.ts'
import { canThink, thinksInLevels } from './models.ts'

/** A conversation in Ollama's form. Throws `untranslatable` for media other than images. */
export function writeRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest {
  loseAllBut(dialogue, context, carried)
  const tools = functionTools(dialogue, context, nameRule)
  if (tools.choice === 'required') lose(dialogue, context, 'toolChoice')
  const messages = plainMessages(dialogue, context, { system: 'anywhere', tools: true, lastTurn: 'begins' })
  const options = optionsOf(dialogue)

  return {
    body: {
      model: context.model,
      messages: messages.map((message) => writeMessage(dialogue, context, tools, message)),
      stream: dialogue.stream,
      ...(tools.offered.length > 0 ? { tools: tools.offered.map(writeFunction) } : {}),
      ...(dialogue.output ? { format: dialogue.output.kind === 'json' ? 'json' : describedSchema(dialogue.output) } : {}),
      ...(Object.keys(options).length > 0 ? { options } : {}),
      ...thinkOf(dialogue, context),
    },
    ...undoing(tools),
  }
}

const carried: readonly Field[] = [
  'temperature',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
  'stop',
  'outputTokensMax',
  'reasoning',
  'output',
  'tools',
  'toolChoice',
]

const nameRule = { allowed: /[a-zA-Z0-9_.-]/, lengthMax: 64 }

function writeMessage(dialogue: Dialogue, { quirks }: RequestContext, tools: FunctionTools, message: PlainMessage): JsonObject {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text }
    case 'user': {
      const images = mediaOf(message.parts).map((part) => imageBytes(dialogue, part))
      return { role: 'user', content: userText(message.parts), ...(images.length > 0 ? { images } : {}) }
    }
    case 'tool':
      return { role: 'tool', content: message.text, tool_name: tools.names.toUpstream(message.name) }
    case 'assistant': {
      const { text, reasoning, calls } = message
      return {
        role: 'assistant',
        content: text,
        ...(reasoning !== '' && replaysReasoning(quirks, calls) ? { thinking: reasoning } : {}),
        ...(calls.length > 0
          ? {
              tool_calls: calls.map((call) => ({
                function: { name: tools.names.toUpstream(call.name), arguments: callObject(call) },
              })),
            }
          : {}),
      }
    }
  }
}

/** Only bytes are accepted as images: URLs have been fetched before. */
function imageBytes(dialogue: Dialogue, part: MediaPart): string {
  return part.media === 'image' && part.source.kind === 'base64' ? part.source.data : refuseMedia(dialogue, part)
}

function optionsOf({ sampling, outputTokensMax, stop }: Dialogue): JsonObject {
  const options = {
    num_predict: outputTokensMax,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: sampling.topK,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    seed: sampling.seed,
    stop: stop.length > 0 ? stop : undefined,
  }
  return definedMembers(options)
}

function thinkOf(dialogue: Dialogue, context: RequestContext): JsonObject {
  const mode = dialogue.reasoning?.mode
  if (mode === undefined || mode === 'auto') return {}
  if (mode === 'off') return { think: false }
  if (canThink(context.model)) return { think: thinksInLevels(context.model) ? levelOf(mode) : true }
  lose(dialogue, context, 'reasoning')
  return {}
}
