import type { Text } from './text.ts'

/**
 * Programs and libraries that call this gateway, and how each is set up: the one table behind the connect page of the console and
 * `docs/clients.md`. Every value that a person types or pastes is in `steps`.
 */
export interface Client {
  readonly id: string
  readonly name: string
  readonly kind: ClientKind
  /** The interface of the gateway that it calls. */
  readonly dialect: ClientDialect
  /** Where its own documentation says so. */
  readonly documentation: string
  /** Absent where the steps are those of its documentation and were not run. */
  readonly tried?: Tried
  /** Models that it asks for besides the chosen one. */
  readonly extraModels?: readonly ExtraModel[]
  readonly hint?: Text
  readonly steps: (setup: ClientSetup) => readonly ClientStep[]
}

export type ClientKind = 'agent' | 'chat' | 'library'
export type ClientDialect = 'chat' | 'responses' | 'messages' | 'gemini'

export const clientKinds: Readonly<Record<ClientKind, Text>> = {
  agent: { zh: '编程智能体', en: 'Coding agents' },
  chat: { zh: '聊天应用', en: 'Chat applications' },
  library: { zh: '命令行与 SDK', en: 'Command line and SDKs' },
}

export const clientDialects: Readonly<Record<ClientDialect, { readonly name: string; readonly path: string }>> = {
  chat: { name: 'OpenAI Chat', path: '/v1/chat/completions' },
  responses: { name: 'OpenAI Responses', path: '/v1/responses' },
  messages: { name: 'Anthropic Messages', path: '/v1/messages' },
  gemini: { name: 'Gemini generateContent', path: '/v1beta/models' },
}

export interface ClientSetup {
  /** Of the gateway, without a slash at the end. */
  readonly address: string
  /** With its `sk-`. */
  readonly key: string
  readonly model: string
}

/** A file or a command to paste, or the fields of a form. */
export type ClientStep =
  | {
      readonly place: Text
      readonly text: string
      readonly language: 'bash' | 'json' | 'toml' | 'yaml' | 'python' | 'typescript'
    }
  | { readonly place: Text; readonly fields: readonly { readonly label: string; readonly value: string }[] }

interface Tried {
  readonly version: string
  /** Year, month and day. */
  readonly date: string
}

interface ExtraModel {
  readonly model: string
  readonly use: Text
}

const terminal: Text = { zh: '终端', en: 'Terminal' }
const file = (path: string): Text => ({ zh: path, en: path })
const form = (path: string): Text => ({ zh: path, en: path })

/** A word of a POSIX shell. */
const quoted = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
const exports = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([name, value]) => `export ${name}=${quoted(value)}`)
/** A string of JSON is one of TOML, YAML, Python and TypeScript too. */
const string = (text: string) => JSON.stringify(text)
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
const lines = (...all: readonly string[]) => `${all.join('\n')}\n`

const openAiFields = ({ address, key, model }: ClientSetup) => [
  { label: 'Base URL', value: `${address}/v1` },
  { label: 'API Key', value: key },
  { label: 'Model ID', value: model },
]

export const clients: readonly Client[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    kind: 'agent',
    dialect: 'messages',
    documentation: 'https://code.claude.com/docs/en/llm-gateway',
    tried: { version: '2.1.330', date: '2026-11-23' },
    extraModels: [
      {
        model: 'claude-haiku-4-5',
        use: { zh: '摘要与后台小任务', en: 'summaries and small tasks in the background' },
      },
    ],
    steps: ({ address, key, model }) => [
      {
        place: terminal,
        language: 'bash',
        text: lines(
          ...exports({
            ANTHROPIC_BASE_URL: address,
            ANTHROPIC_AUTH_TOKEN: key,
            ANTHROPIC_MODEL: model,
            ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
          }),
          'claude',
        ),
      },
      {
        place: file('~/.claude/settings.json'),
        language: 'json',
        text: json({
          env: {
            ANTHROPIC_BASE_URL: address,
            ANTHROPIC_AUTH_TOKEN: key,
            ANTHROPIC_MODEL: model,
            ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
          },
        }),
      },
    ],
    hint: {
      zh: '两种方式任选其一。ANTHROPIC_DEFAULT_HAIKU_MODEL 让后台小任务也使用所选模型。',
      en: 'Either of the two is enough. ANTHROPIC_DEFAULT_HAIKU_MODEL makes small background tasks use the chosen model too.',
    },
  },
  {
    id: 'codex',
    name: 'Codex',
    kind: 'agent',
    dialect: 'responses',
    documentation: 'https://developers.openai.com/codex/config-advanced',
    tried: { version: '0.169.0', date: '2026-11-23' },
    steps: ({ address, key, model }) => [
      {
        place: file('~/.codex/config.toml'),
        language: 'toml',
        text: lines(
          `model = ${string(model)}`,
          'model_provider = "sluice"',
          '',
          '[model_providers.sluice]',
          'name = "Sluice"',
          `base_url = ${string(`${address}/v1`)}`,
          'env_key = "SLUICE_API_KEY"',
          'wire_api = "responses"',
        ),
      },
      { place: terminal, language: 'bash', text: lines(...exports({ SLUICE_API_KEY: key }), 'codex') },
    ],
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    kind: 'agent',
    dialect: 'gemini',
    documentation: 'https://geminicli.com/docs/reference/configuration',
    tried: { version: '0.61.0', date: '2026-11-23' },
    extraModels: [
      { model: 'gemini-2.5-flash-lite', use: { zh: '选择模型（路由）', en: 'routing between models' } },
      { model: 'gemini-2.5-flash', use: { zh: '摘要与网页读取', en: 'summaries and reading web pages' } },
    ],
    steps: ({ address, key, model }) => [
      {
        place: file('~/.gemini/settings.json'),
        language: 'json',
        text: json({ security: { auth: { selectedType: 'gemini-api-key' } } }),
      },
      {
        place: terminal,
        language: 'bash',
        text: lines(...exports({ GOOGLE_GEMINI_BASE_URL: address, GEMINI_API_KEY: key, GEMINI_MODEL: model }), 'gemini'),
      },
    ],
  },
  {
    id: 'opencode',
    name: 'opencode',
    kind: 'agent',
    dialect: 'chat',
    documentation: 'https://opencode.ai/docs/providers',
    tried: { version: '1.18.33', date: '2026-11-23' },
    steps: ({ address, key, model }) => [
      {
        place: file('opencode.json'),
        language: 'json',
        text: json({
          $schema: 'https://opencode.ai/config.json',
          provider: {
            sluice: {
              npm: '@ai-sdk/openai-compatible',
              name: 'Sluice',
              options: { baseURL: `${address}/v1`, apiKey: '{env:SLUICE_API_KEY}' },
              models: { [model]: { name: model } },
            },
          },
          model: `sluice/${model}`,
          small_model: `sluice/${model}`,
        }),
      },
      { place: terminal, language: 'bash', text: lines(...exports({ SLUICE_API_KEY: key }), 'opencode') },
    ],
  },
  {
    id: 'qwen-code',
    name: 'Qwen Code',
    kind: 'agent',
    dialect: 'chat',
    documentation: 'https://qwenlm.github.io/qwen-code-docs',
    steps: ({ address, key, model }) => [
      {
        place: terminal,
        language: 'bash',
        text: lines(...exports({ OPENAI_BASE_URL: `${address}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: model }), 'qwen'),
      },
    ],
  },
  {
    id: 'cline',
    name: 'Cline',
    kind: 'agent',
    dialect: 'chat',
    documentation: 'https://docs.cline.bot/provider-config/openai-compatible',
    steps: (setup) => [{ place: form('Settings → API Provider → OpenAI Compatible'), fields: openAiFields(setup) }],
  },
  {
    id: 'continue',
    name: 'Continue',
    kind: 'agent',
    dialect: 'chat',
    documentation: 'https://docs.continue.dev/reference',
    steps: ({ address, key, model }) => [
      {
        place: file('~/.continue/config.yaml'),
        language: 'yaml',
        text: lines(
          'name: Sluice',
          'version: 1.0.0',
          'schema: v1',
          'models:',
          `  - name: ${string(model)}`,
          '    provider: openai',
          `    model: ${string(model)}`,
          `    apiBase: ${string(`${address}/v1`)}`,
          `    apiKey: ${string(key)}`,
          '    roles: [chat, edit, apply]',
        ),
      },
    ],
  },
  {
    id: 'cursor',
    name: 'Cursor',
    kind: 'agent',
    dialect: 'chat',
    documentation: 'https://cursor.com/docs/models',
    steps: ({ address, key, model }) => [
      {
        place: form('Cursor Settings → Models → API Keys'),
        fields: [
          { label: 'OpenAI API Key', value: key },
          { label: 'Override OpenAI Base URL', value: `${address}/v1` },
          { label: 'Add Custom Model', value: model },
        ],
      },
    ],
    hint: {
      zh: '请求由 Cursor 的服务器发出，因此本站地址须能从互联网访问。',
      en: 'The servers of Cursor make the calls, so the address must be reachable from the internet.',
    },
  },
  {
    id: 'aider',
    name: 'aider',
    kind: 'agent',
    dialect: 'chat',
    documentation: 'https://aider.chat/docs/llms/openai-compat.html',
    steps: ({ address, key, model }) => [
      {
        place: terminal,
        language: 'bash',
        text: lines(
          ...exports({ OPENAI_API_BASE: `${address}/v1`, OPENAI_API_KEY: key }),
          `aider --model ${quoted(`openai/${model}`)} --weak-model ${quoted(`openai/${model}`)}`,
        ),
      },
    ],
  },
  {
    id: 'open-webui',
    name: 'Open WebUI',
    kind: 'chat',
    dialect: 'chat',
    documentation: 'https://docs.openwebui.com/getting-started/quick-start/connect-a-provider',
    steps: ({ address, key }) => [
      {
        place: form('Admin Settings → Connections → OpenAI API'),
        fields: [
          { label: 'URL', value: `${address}/v1` },
          { label: 'Key', value: key },
        ],
      },
    ],
  },
  {
    id: 'librechat',
    name: 'LibreChat',
    kind: 'chat',
    dialect: 'chat',
    documentation: 'https://www.librechat.ai/docs/quick_start/custom_endpoints',
    steps: ({ address, key, model }) => [
      {
        place: file('librechat.yaml'),
        language: 'yaml',
        text: lines(
          'version: 1.2.1',
          'endpoints:',
          '  custom:',
          '    - name: "Sluice"',
          `      apiKey: "\${SLUICE_API_KEY}"`,
          `      baseURL: ${string(`${address}/v1`)}`,
          '      models:',
          `        default: [${string(model)}]`,
          '        fetch: true',
          '      titleConvo: true',
          `      titleModel: ${string(model)}`,
        ),
      },
      { place: file('.env'), language: 'bash', text: lines(`SLUICE_API_KEY=${key}`) },
    ],
  },
  {
    id: 'chatbox',
    name: 'Chatbox',
    kind: 'chat',
    dialect: 'chat',
    documentation: 'https://docs.chatboxai.app',
    steps: ({ address, key, model }) => [
      {
        place: form('Settings → Model Provider → Add → OpenAI API Compatible'),
        fields: [
          { label: 'API Host', value: `${address}/v1` },
          { label: 'API Key', value: key },
          { label: 'Model', value: model },
        ],
      },
    ],
  },
  {
    id: 'curl',
    name: 'curl',
    kind: 'library',
    dialect: 'chat',
    documentation: 'https://curl.se/docs/manpage.html',
    tried: { version: '7.88.1', date: '2026-11-23' },
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
    tried: { version: '7.51.0', date: '2026-11-23' },
    steps: ({ address, key, model }) => [
      {
        place: { zh: 'TypeScript', en: 'TypeScript' },
        language: 'typescript',
        text: lines(
          "import OpenAI from 'openai'",
          '',
          `const client = new OpenAI({ baseURL: ${string(`${address}/v1`)}, apiKey: ${string(key)} })`,
          'const reply = await client.chat.completions.create({',
          `  model: ${string(model)},`,
          "  messages: [{ role: 'user', content: 'Hello' }],",
          '})',
          'console.log(reply.choices[0]?.message.content)',
        ),
      },
    ],
  },
  {
    id: 'anthropic-sdk',
    name: 'Anthropic SDK',
    kind: 'library',
    dialect: 'messages',
    documentation: 'https://github.com/anthropics/anthropic-sdk-typescript',
    tried: { version: '1.10.0', date: '2026-11-23' },
    steps: ({ address, key, model }) => [
      {
        place: { zh: 'TypeScript', en: 'TypeScript' },
        language: 'typescript',
        text: lines(
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
      },
    ],
  },
  {
    id: 'google-genai',
    name: 'Google Gen AI SDK',
    kind: 'library',
    dialect: 'gemini',
    documentation: 'https://github.com/googleapis/js-genai',
    tried: { version: '2.32.0', date: '2026-11-23' },
    steps: ({ address, key, model }) => [
      {
        place: { zh: 'TypeScript', en: 'TypeScript' },
        language: 'typescript',
        text: lines(
          "import { GoogleGenAI } from '@google/genai'",
          '',
          `const client = new GoogleGenAI({ apiKey: ${string(key)}, httpOptions: { baseUrl: ${string(address)} } })`,
          `const reply = await client.models.generateContent({ model: ${string(model)}, contents: 'Hello' })`,
          'console.log(reply.text)',
        ),
      },
    ],
  },
  {
    id: 'vercel-ai-sdk',
    name: 'Vercel AI SDK',
    kind: 'library',
    dialect: 'responses',
    documentation: 'https://ai-sdk.dev/providers/ai-sdk-providers/openai',
    tried: { version: '6.0.322', date: '2026-11-23' },
    steps: ({ address, key, model }) => [
      {
        place: { zh: 'TypeScript', en: 'TypeScript' },
        language: 'typescript',
        text: lines(
          "import { createOpenAI } from '@ai-sdk/openai'",
          "import { generateText } from 'ai'",
          '',
          `const sluice = createOpenAI({ baseURL: ${string(`${address}/v1`)}, apiKey: ${string(key)} })`,
          `const { text } = await generateText({ model: sluice(${string(model)}), prompt: 'Hello' })`,
          'console.log(text)',
        ),
      },
    ],
  },
  {
    id: 'langchain',
    name: 'LangChain',
    kind: 'library',
    dialect: 'chat',
    documentation: 'https://docs.langchain.com/oss/javascript/integrations/chat/openai',
    tried: { version: '1.5.8', date: '2026-11-23' },
    steps: ({ address, key, model }) => [
      {
        place: { zh: 'TypeScript', en: 'TypeScript' },
        language: 'typescript',
        text: lines(
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
      },
    ],
  },
]
