import type { Client } from './client.ts'
import { exported, json, lines, named, openAiFields, quoted, string, terminal } from './writing.ts'

/** Coding agents, in a terminal or an editor. */
export const agents: readonly Client[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    kind: 'agent',
    dialect: 'messages',
    documentation: 'https://code.claude.com/docs/en/llm-gateway',
    tried: { version: '2.1.330', date: '2026-11-29' },
    extraModels: [
      {
        model: 'claude-haiku-4-5',
        use: { zh: '摘要与后台小任务', en: 'summaries and small background tasks' },
      },
    ],
    steps: ({ address, key, model }) => {
      const env = {
        ANTHROPIC_BASE_URL: address,
        ANTHROPIC_AUTH_TOKEN: key,
        ANTHROPIC_MODEL: model,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      }
      return [
        { place: terminal, language: 'bash', text: lines(...exported(env), 'claude') },
        { place: named('~/.claude/settings.json'), language: 'json', text: json({ env }) },
      ]
    },
    hint: {
      zh: '两种方式任选其一。ANTHROPIC_DEFAULT_HAIKU_MODEL 让后台小任务也使用所选模型。对于不认识的模型名称，Claude Code 按 200,000 个 Token 的上下文计算：上下文为一百万的，在名称后加 [1m]；其他的，用 CLAUDE_CODE_MAX_CONTEXT_TOKENS 指定；更小的上下文用 CLAUDE_CODE_AUTO_COMPACT_WINDOW 让它提前压缩。',
      en: 'Either is enough. With ANTHROPIC_DEFAULT_HAIKU_MODEL, small background tasks also use the selected model. For names that it does not know, Claude Code assumes a context of 200,000 tokens: append [1m] to the name of a model with a million, set CLAUDE_CODE_MAX_CONTEXT_TOKENS for another size, and CLAUDE_CODE_AUTO_COMPACT_WINDOW for a smaller one, so that it compacts in time.',
    },
  },
  {
    id: 'codex',
    name: 'Codex',
    kind: 'agent',
    dialect: 'responses',
    documentation: 'https://developers.openai.com/codex/config-advanced',
    tried: { version: '0.169.0', date: '2026-11-29' },
    steps: ({ address, key, model }) => [
      {
        place: named('~/.codex/config.toml'),
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
          // Codex repeats a refused key as it does a broken stream before it tells of it: 3 seconds with four repeats, 6.5 with its own five.
          'stream_max_retries = 4',
        ),
      },
      { place: terminal, language: 'bash', text: lines(...exported({ SLUICE_API_KEY: key }), 'codex') },
    ],
    hint: {
      zh: '在 [model_providers.sluice] 中加上 supports_websockets = true，Codex 就用一个 WebSocket 连接发出一轮中的所有请求。',
      en: 'With supports_websockets = true in [model_providers.sluice], Codex sends all calls of a turn over one WebSocket.',
    },
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    kind: 'agent',
    dialect: 'gemini',
    documentation: 'https://geminicli.com/docs/reference/configuration',
    tried: { version: '0.61.0', date: '2026-11-29' },
    extraModels: [
      { model: 'gemini-2.5-flash-lite', use: { zh: '选择模型（路由）', en: 'model routing' } },
      { model: 'gemini-2.5-flash', use: { zh: '摘要与网页读取', en: 'summaries and web page reading' } },
      { model: 'gemini-3.1-pro-preview', use: { zh: '子智能体', en: 'subagents' } },
    ],
    steps: ({ address, key, model }) => [
      {
        place: named('~/.gemini/settings.json'),
        language: 'json',
        text: json({ security: { auth: { selectedType: 'gemini-api-key' } } }),
      },
      {
        place: terminal,
        language: 'bash',
        text: lines(...exported({ GOOGLE_GEMINI_BASE_URL: address, GEMINI_API_KEY: key, GEMINI_MODEL: model }), 'gemini'),
      },
    ],
  },
  {
    id: 'opencode',
    name: 'opencode',
    kind: 'agent',
    dialect: 'chat',
    documentation: 'https://opencode.ai/docs/providers',
    tried: { version: '1.18.33', date: '2026-11-29' },
    steps: ({ address, key, model }) => [
      {
        place: named('opencode.json'),
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
      { place: terminal, language: 'bash', text: lines(...exported({ SLUICE_API_KEY: key }), 'opencode') },
    ],
  },
  {
    id: 'qwen-code',
    name: 'Qwen Code',
    kind: 'agent',
    dialect: 'chat',
    documentation: 'https://qwenlm.github.io/qwen-code-docs',
    tried: { version: '0.24.4', date: '2026-11-29' },
    steps: ({ address, key, model }) => [
      {
        place: terminal,
        language: 'bash',
        text: lines(...exported({ OPENAI_BASE_URL: `${address}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: model }), 'qwen'),
      },
    ],
  },
  {
    id: 'copilot-cli',
    name: 'GitHub Copilot CLI',
    kind: 'agent',
    dialect: 'chat',
    documentation: 'https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/use-byok-models',
    tried: { version: '1.0.102', date: '2026-11-29' },
    steps: ({ address, key, model }) => [
      {
        place: terminal,
        language: 'bash',
        text: lines(
          ...exported({
            COPILOT_PROVIDER_TYPE: 'openai',
            COPILOT_PROVIDER_BASE_URL: `${address}/v1`,
            COPILOT_PROVIDER_API_KEY: key,
            COPILOT_MODEL: model,
          }),
          'copilot',
        ),
      },
    ],
  },
  {
    id: 'pi',
    name: 'pi',
    kind: 'agent',
    dialect: 'chat',
    documentation: 'https://github.com/badlogic/pi-mono/blob/main/packages/coding-agent/docs/models.md',
    tried: { version: '1.6.0', date: '2026-11-29' },
    steps: ({ address, key, model }) => [
      {
        place: named('~/.pi/agent/models.json'),
        language: 'json',
        text: json({
          providers: {
            sluice: { baseUrl: `${address}/v1`, api: 'openai-completions', apiKey: key, models: [{ id: model }] },
          },
        }),
      },
      { place: terminal, language: 'bash', text: lines(`pi --provider sluice --model ${quoted(model)}`) },
    ],
  },
  {
    id: 'kilo-code',
    name: 'Kilo Code',
    kind: 'agent',
    dialect: 'chat',
    documentation: 'https://kilo.ai/docs/providers/openai-compatible',
    steps: (setup) => [{ place: named('Settings → Providers → OpenAI Compatible'), fields: openAiFields(setup) }],
  },
  {
    id: 'cline',
    name: 'Cline',
    kind: 'agent',
    dialect: 'chat',
    documentation: 'https://docs.cline.bot/provider-config/openai-compatible',
    steps: (setup) => [{ place: named('Settings → API Provider → OpenAI Compatible'), fields: openAiFields(setup) }],
  },
  {
    id: 'continue',
    name: 'Continue',
    kind: 'agent',
    dialect: 'chat',
    documentation: 'https://docs.continue.dev/reference',
    tried: { version: '1.5.47', date: '2026-11-29' },
    steps: ({ address, key, model }) => [
      {
        place: named('~/.continue/config.yaml'),
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
        place: named('Cursor Settings → Models → API Keys'),
        fields: [
          { label: 'OpenAI API Key', value: key },
          { label: 'Override OpenAI Base URL', value: `${address}/v1` },
          { label: 'Add Custom Model', value: model },
        ],
      },
    ],
    hint: {
      zh: '请求由 Cursor 的服务器发出，因此本站地址须能从互联网访问。',
      en: 'Cursor’s servers make the calls, so this site must be reachable from the internet.',
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
          ...exported({ OPENAI_API_BASE: `${address}/v1`, OPENAI_API_KEY: key }),
          `aider --model ${quoted(`openai/${model}`)} --weak-model ${quoted(`openai/${model}`)}`,
        ),
      },
    ],
  },
]
