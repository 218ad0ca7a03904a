import { defineFormat } from '../define-format.ts'
import { limitAt } from '../output-limit.ts'
import { systemPromptIn } from '../system-prompt.ts'
import { arrayAt, isObject } from '../wire-format.ts'
import { interactionTools } from './hosted-tools.ts'
import { geminiInteractions } from './interactions.ts'
import { interactionTexts } from './reply-texts.ts'
import { writeInteraction, writeInteractionEvents } from './reply-write.ts'
import { readInteraction } from './request-read.ts'
import { storedInteractions } from './stored.ts'

const mediaForms: ReadonlySet<unknown> = new Set(['audio', 'image', 'video'])

/** Gemini Interactions: for Google's models and agents, and translated for all other models. */
export const geminiInteractionsFormat = defineFormat({
  name: 'gemini.interactions',
  wire: geminiInteractions,
  inbound: { readRequest: readInteraction, writeReply: writeInteraction, writeEvents: writeInteractionEvents },
  stored: storedInteractions,
  outputLimit: limitAt(['generation_config', 'max_output_tokens']),
  systemPrompt: systemPromptIn('system_instruction', (text) => ({ type: 'text', text })),
  hostedTools: interactionTools,
  bound: {
    adding: ['environment'],
    // An agent reads as much as it finds, and a token continues a prompt that only the vendor knows.
    unbounded: { agent: (body) => body.agent, continuation_token: (body) => body.continuation_token },
    modalities: (body) => [
      ...arrayAt(body, 'response_modalities'),
      ...[body.response_format].flat().flatMap((form) => (isObject(form) && mediaForms.has(form.type) ? [form.type] : [])),
    ],
  },
  storesAnswer: ({ store }) => store !== false,
  runsInBackground: true,
  optionalEndpoint: { name: 'interactions' },
  texts: interactionTexts,
  countsToolCalls: true,
})
