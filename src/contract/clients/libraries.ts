import type { Client } from './client.ts'
import { lines, quoted, string, terminal, typescript } from './writing.ts'

/** curl, the official SDKs and libraries over them. */
export const libraries: readonly Client[] = [
  {
    id: 'curl',
    name: 'curl',
    kind: 'library',
    dialect: 'chat',
    documentation: 'https://curl.se/docs/manpage.html',
    tried: { version: '7.88.1', date: '2026-11-29' },
    steps: ({ address, key, model }) => [
      {
        place: terminal,
        language: 'bash',
        text: lines(
          `curl ${quoted(`${address}/v1/chat/completions`)} \\`,
          `  -H ${quoted(`Authorization: Bearer ${key}`)} \\`,
          `  -H 'Content-Type: application/json' \\`,
          `  -d ${quoted(JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }))}`,
        ),
      },
    ],
  },
  {
    id: 'openai-python',
    name: 'OpenAI Python',
    kind: 'library',
    dialect: 'responses',
    documentation: 'https://github.com/openai/openai-python',
    tried: { version: '3.54.0', date: '2026-11-29' },
    steps: ({ address, key, model }) => [
      {
        place: { zh: 'Python', en: 'Python' },
        language: 'python',
        text: lines(
          'from openai import OpenAI',
          '',
          `client = OpenAI(base_url=${string(`${address}/v1`)}, api_key=${string(key)})`,
          `reply = client.responses.create(model=${string(model)}, input="Hello")`,
          'print(reply.output_text)',
        ),
      },
    ],
  },
  {
    id: 'openai-js',
    name: 'OpenAI JavaScript',
    kind: 'library',
    dialect: 'chat',
    documentation: 'https://github.com/openai/openai-node',
    tried: { version: '7.59.0', date: '2026-11-29' },
    steps: ({ address, key, model }) => [
      typescript(
        "import OpenAI from 'openai'",
        '',
        `const client = new OpenAI({ baseURL: ${string(`${address}/v1`)}, apiKey: ${string(key)} })`,
        'const reply = await client.chat.completions.create({',
        `  model: ${string(model)},`,
        "  messages: [{ role: 'user', content: 'Hello' }],",
        '})',
        'console.log(reply.choices[0]?.message.content)',
      ),
    ],
  },
  {
    id: 'anthropic-sdk',
    name: 'Anthropic SDK',
    kind: 'library',
    dialect: 'messages',
    documentation: 'https://github.com/anthropics/anthropic-sdk-typescript',
    tried: { version: '1.14.0', date: '2026-11-29' },
    steps: ({ address, key, model }) => [
      typescript(
        "import Anthropic from '@anthropic-ai/sdk'",
        '',
        `const client = new Anthropic({ baseURL: ${string(address)}, apiKey: ${string(key)} })`,
        'const reply = await client.messages.create({',
        `  model: ${string(model)},`,
        '  max_tokens: 1024,',
        "  messages: [{ role: 'user', content: 'Hello' }],",
        '})',
        'console.log(reply.content)',
      ),
    ],
  },
  {
    id: 'google-genai',
    name: 'Google Gen AI SDK',
    kind: 'library',
    dialect: 'gemini',
    documentation: 'https://github.com/googleapis/js-genai',
    tried: { version: '3.3.0', date: '2026-11-29' },
    steps: ({ address, key, model }) => [
      typescript(
        "import { GoogleGenAI } from '@google/genai'",
        '',
        `const client = new GoogleGenAI({ apiKey: ${string(key)}, httpOptions: { baseUrl: ${string(address)} } })`,
        `const reply = await client.models.generateContent({ model: ${string(model)}, contents: 'Hello' })`,
        'console.log(reply.text)',
      ),
    ],
  },
  {
    id: 'vercel-ai-sdk',
    name: 'Vercel AI SDK',
    kind: 'library',
    dialect: 'responses',
    documentation: 'https://ai-sdk.dev/providers/ai-sdk-providers/openai',
    tried: { version: '7.0.173', date: '2026-11-29' },
    steps: ({ address, key, model }) => [
      typescript(
        "import { createOpenAI } from '@ai-sdk/openai'",
        "import { generateText } from 'ai'",
        '',
        `const sluice = createOpenAI({ baseURL: ${string(`${address}/v1`)}, apiKey: ${string(key)} })`,
        `const { text } = await generateText({ model: sluice(${string(model)}), prompt: 'Hello' })`,
        'console.log(text)',
      ),
    ],
  },
  {
    id: 'langchain',
    name: 'LangChain',
    kind: 'library',
    dialect: 'chat',
    documentation: 'https://docs.langchain.com/oss/javascript/integrations/chat/openai',
    tried: { version: '1.5.8', date: '2026-11-29' },
    steps: ({ address, key, model }) => [
      typescript(
        "import { ChatOpenAI } from '@langchain/openai'",
        '',
        'const chat = new ChatOpenAI({',
        `  model: ${string(model)},`,
        `  apiKey: ${string(key)},`,
        `  configuration: { baseURL: ${string(`${address}/v1`)} },`,
        '})',
        "const reply = await chat.invoke('Hello')",
        'console.log(reply.content)',
      ),
    ],
  },
]
