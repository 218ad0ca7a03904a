import { execFileSync } from 'node:child_process'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { isStepCount, jsonSchema, streamText, tool } from 'ai'

// A task with a shell tool, done with one provider package of the Vercel AI SDK: `ai-sdk.mjs <provider> <task> <address> <key> <model>`.

const [provider, prompt, address, apiKey, model] = process.argv.slice(2)

const providers = {
  openai: () => createOpenAI({ baseURL: `${address}/v1`, apiKey })(model),
  'openai-chat': () => createOpenAI({ baseURL: `${address}/v1`, apiKey }).chat(model),
  anthropic: () => createAnthropic({ baseURL: `${address}/v1`, apiKey })(model),
  google: () => createGoogleGenerativeAI({ baseURL: `${address}/v1beta`, apiKey })(model),
}

const shell = tool({
  description: 'Runs a command in a shell and answers what it prints.',
  inputSchema: jsonSchema({ type: 'object', properties: { command: { type: 'string' } }, required: ['command'] }),
  execute: async ({ command }) => execFileSync('sh', ['-c', command], { encoding: 'utf8' }),
})

const result = streamText({
  model: providers[provider](),
  prompt,
  tools: { shell },
  stopWhen: isStepCount(5),
  onError: ({ error }) => {
    process.exitCode = 1
    console.error(error)
  },
})
for await (const piece of result.textStream) process.stdout.write(piece)
