import type { Client } from './client.ts'
import { lines, named, quoted, string } from './writing.ts'

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
