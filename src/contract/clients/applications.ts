import type { Client } from './client.ts'
import { exported, lines, named, quoted, string, terminal } from './writing.ts'

/** Chat applications. */
export const applications: readonly Client[] = [
  {
    id: 'open-webui',
    name: 'Open WebUI',
    kind: 'chat',
    dialect: 'chat',
    documentation: 'https://docs.openwebui.com/getting-started/quick-start/connect-a-provider',
    steps: ({ address, key }) => [
      {
        place: named('Admin Settings → Connections → OpenAI API'),
        fields: [
          { label: 'URL', value: `${address}/v1` },
          { label: 'Key', value: key },
        ],
      },
      {
        place: terminal,
        language: 'bash',
        text: lines(...exported({ OPENAI_API_BASE_URL: `${address}/v1`, OPENAI_API_KEY: key }), 'open-webui serve'),
      },
    ],
    hint: {
      zh: '两种方式任选其一；环境变量只在首次启动时读取。',
      en: 'Either is enough; the variables are only read at the first start.',
    },
  },
  {
    id: 'librechat',
    name: 'LibreChat',
    kind: 'chat',
    dialect: 'chat',
    documentation: 'https://www.librechat.ai/docs/quick_start/custom_endpoints',
    steps: ({ address, key, model }) => [
      {
        place: named('librechat.yaml'),
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
      { place: named('.env'), language: 'bash', text: lines(`SLUICE_API_KEY=${quoted(key)}`) },
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
        place: named('Settings → Model Provider → Add → OpenAI API Compatible'),
        fields: [
          { label: 'API Host', value: `${address}/v1` },
          { label: 'API Key', value: key },
          { label: 'Model', value: model },
        ],
      },
    ],
  },
]
