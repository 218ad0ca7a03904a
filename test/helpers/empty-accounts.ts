/** An error of an upstream as its vendor writes it. */
export interface VendorError {
  readonly vendor: string
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

const error = (vendor: string, status: number, members: object): VendorError => ({ vendor, status, body: { error: members } })

/** The account behind the key is empty: the vendors' references, their servers' sources and reports of their users, read 2026-11. */
export const emptyAccounts: readonly VendorError[] = [
  error('OpenAI', 429, {
    message: 'You exceeded your current quota, please check your plan and billing details.',
    type: 'insufficient_quota',
    param: null,
    code: 'insufficient_quota',
  }),
  {
    vendor: 'Anthropic',
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' },
    },
  },
  error('DeepSeek', 402, { message: 'Insufficient Balance', type: 'unknown_error', param: null, code: 'invalid_request_error' }),
  error('OpenRouter', 402, {
    message: 'Insufficient credits. Add more using https://openrouter.ai/settings/credits',
    code: 402,
    metadata: { limit_source: 'openrouter_credits' },
  }),
  error('OpenRouter, without any left', 402, {
    message: 'This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 0.',
    code: 402,
  }),
  error('OpenRouter, the limit of a key', 403, { message: 'Key limit exceeded (total limit).', code: 403 }),
  {
    vendor: 'SiliconFlow',
    status: 403,
    body: { code: 30001, message: 'Sorry, your account balance is insufficient', data: null },
  },
  error('Alibaba', 400, {
    message: 'Access denied, please make sure your account is in good standing.',
    type: 'Arrearage',
    param: null,
    code: 'Arrearage',
  }),
  error('Volcengine', 403, {
    message: 'The request failed because your account has an overdue balance. Request id: 0217',
    type: 'Forbidden',
    param: '',
    code: 'AccountOverdueError',
  }),
  error('Zhipu', 429, { code: '1113', message: '您的账户已欠费，请充值后重试。' }),
  error('Zhipu abroad', 429, { code: '1113', message: 'Insufficient balance or no resource package. Please recharge.' }),
  error('Moonshot', 429, {
    message:
      'Your account org-1<ak-1> is suspended due to insufficient balance, please recharge your account or check your plan and billing details',
    type: 'exceeded_current_quota_error',
  }),
  error('Moonshot, in other words', 429, {
    message: 'You exceeded your current token quota: 0, please check your account balance',
    type: 'rate_limit_reached_error',
  }),
  {
    vendor: 'xAI',
    status: 429,
    body: {
      code: 'Some resource has been exhausted',
      error:
        'Your team 1 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.',
    },
  },
  {
    vendor: 'xAI, a new team',
    status: 403,
    body: {
      code: 'The caller does not have permission to execute the specified operation',
      error: "Your newly created teams doesn't have any credits yet. You can purchase credits on https://console.x.ai/team/1.",
    },
  },
  {
    vendor: 'MiniMax',
    status: 200,
    body: { id: 'x', choices: null, base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
  },
  {
    vendor: 'MiniMax in Messages',
    status: 429,
    body: { type: 'error', error: { type: 'insufficient_balance_error', message: 'insufficient balance (1008)' } },
  },
  error('A site of the family', 403, {
    message: '用户额度不足, 剩余额度: ＄-0.000002 (request id: 2026)',
    type: 'new_api_error',
    param: '',
    code: 'insufficient_user_quota',
  }),
  error('An older site of the family', 403, {
    message: 'user quota is not enough (request id: 2024)',
    type: 'one_api_error',
    param: '',
    code: 'insufficient_user_quota',
  }),
  error('Mistral', 429, { object: 'error', message: 'Monthly usage limit reached', type: 'invalid_request_error', code: '1' }),
]

/** A model or a request of this size is refused, while the account still serves others. */
export const limitedAccounts: readonly VendorError[] = [
  error('OpenRouter', 402, {
    message:
      'This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 30104.',
    code: 402,
  }),
  error('Alibaba', 403, {
    message: 'The free tier of the model has been exhausted. To continue, disable the "use free tier only" mode.',
    type: 'AllocationQuota.FreeTierOnly',
    code: 'AllocationQuota.FreeTierOnly',
  }),
  error('Volcengine', 429, {
    message: 'Your account [2100] has reached the set inference limit for the [doubao-seed] model.',
    type: 'TooManyRequests',
    code: 'SetLimitExceeded',
  }),
]
