import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { jsonSchema, type LanguageModel, Output, stepCountIs, streamText, tool } from 'ai'
import { resultOf, scenario } from '../../helpers/agents/scenario.ts'
import { type Agent, type Asked, Notes, turnsMax } from './agent.ts'

// Its warnings about content that it cannot send back to another provider are expected here.
globalThis.AI_SDK_LOG_WARNINGS = false

type Options = NonNullable<Parameters<typeof streamText>[0]['providerOptions']>

/** The loop of the Vercel AI SDK, which is the same for every provider. */
const agent =
  (modelOf: (asked: Asked) => LanguageModel, optionsOf: (asked: Asked) => Options): Agent =>
  async (asked) => {
    const notes = new Notes()
    const errors: unknown[] = []
    const result = streamText({
      model: modelOf(asked),
      maxRetries: 0,
      maxOutputTokens: 8192,
      providerOptions: optionsOf(asked),
      system: scenario.instruction,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: scenario.question },
            { type: 'image', image: scenario.image, mediaType: 'image/png' },
          ],
        },
      ],
      tools: Object.fromEntries(
        scenario.tools.map(({ name, description, schema }) => [
          name,
          tool({
            description,
            inputSchema: jsonSchema<Record<string, unknown>>(structuredClone(schema) as object),
            execute: (input) => {
              notes.call(name, input)
              return resultOf(name, input)
            },
          }),
        ]),
      ),
      output: Output.object({ name: scenario.answerName, schema: jsonSchema(structuredClone(scenario.answerSchema) as object) }),
      stopWhen: stepCountIs(turnsMax),
      onError: ({ error }) => void errors.push(error),
    })
    await result.consumeStream()
    if (errors.length > 0) throw errors[0]
    for (const { text, reasoningText, usage } of await result.steps) {
      notes.turn({ text, thought: reasoningText })
      notes.used({
        input: usage.inputTokens ?? 0,
        cached: usage.inputTokenDetails.cacheReadTokens ?? 0,
        output: usage.outputTokens ?? 0,
      })
    }
    return notes.run(await result.output)
  }

export const aiSdk: Readonly<Record<string, Agent>> = {
  'ai sdk, openai chat': agent(
    ({ url, key, model }) => createOpenAI({ apiKey: key, baseURL: `${url}/v1` }).chat(model),
    ({ reasons }) => ({ openai: reasons ? { reasoningEffort: 'medium' } : {} }),
  ),
  'ai sdk, openai responses': agent(
    ({ url, key, model }) => createOpenAI({ apiKey: key, baseURL: `${url}/v1` }).responses(model),
    ({ reasons }) => ({
      openai: {
        store: false,
        ...(reasons
          ? {
              include: ['reasoning.encrypted_content'],
              reasoningEffort: 'medium',
              reasoningSummary: 'auto',
              // The library requests reasoning only from models whose names it knows.
              forceReasoning: true,
            }
          : {}),
      },
    }),
  ),
  'ai sdk, anthropic': agent(
    ({ url, key, model }) => createAnthropic({ apiKey: key, baseURL: `${url}/v1` })(model),
    ({ reasons }) => ({
      anthropic: {
        structuredOutputMode: 'outputFormat',
        ...(reasons ? { thinking: { type: 'enabled', budgetTokens: 2048 } } : {}),
      },
    }),
  ),
  'ai sdk, google': agent(
    ({ url, key, model }) => createGoogleGenerativeAI({ apiKey: key, baseURL: `${url}/v1beta` })(model),
    ({ reasons }) => ({ google: reasons ? { thinkingConfig: { includeThoughts: true, thinkingLevel: 'high' } } : {} }),
  ),
}
