import type { FormName } from './forms.ts'
import type { Who } from './site.ts'

/**
 * Every recorded call of compatible consoles: the path and the body as they send them, and the form of the reply that they need.
 * `$name` is replaced by the seeded value. A call may use the results of calls before it.
 */
export interface RecordedCall {
  readonly call: string
  /** Root by default. */
  readonly as?: Who
  readonly body?: unknown
  readonly form?: FormName
  /** Fields in addition to `data`. */
  readonly beside?: Readonly<Record<string, FormName | 'seconds'>>
  /**
   * The call is refused with this stable code (any, if undefined), and with HTTP 200 and `success: false` unless a status is given.
   */
  readonly refused?: { readonly code: string | undefined; readonly status?: number }
}

const calls: RecordedCall[] = []
const add = (call: string, form: FormName, more: Omit<RecordedCall, 'call' | 'form'> = {}) => calls.push({ call, form, ...more })
const refused = (
  call: string,
  code: string | undefined,
  more: Omit<RecordedCall, 'call' | 'refused'> & { status?: number } = {},
) => {
  const { status, ...rest } = more
  calls.push({ call, refused: { code, ...(status ? { status } : {}) }, ...rest })
}

// Shell, home, about
add('GET /api/status', 'status', { as: 'nobody' })
add('GET /api/notice', 'text', { as: 'nobody' })
add('GET /api/home_page_content', 'text', { as: 'nobody' })
add('GET /api/about', 'text', { as: 'nobody' })
add('GET /api/user/groups', 'groups', { as: 'nobody' })
refused('GET /api/user/self', 'not_signed_in', { as: 'nobody', status: 401 })

// Sign-in family
const login = 'POST /api/user/login?turnstile=TURNSTILE_STUB_TOKEN'
add(login, 'signedIn', { as: 'nobody', body: { username: 'leaver', password: '$password' } })
refused(login, 'credentials_wrong', { as: 'nobody', body: { username: 'root', password: 'wrong' } })
refused(login, 'credentials_required', { as: 'nobody', body: { username: '', password: '' } })
const switchTo = (value: boolean) =>
  add('PUT /api/option/', 'nothing', { body: { key: 'EmailVerificationEnabled', value: String(value) } })
switchTo(true)
add('GET /api/verification?email=new@example.com&turnstile=TURNSTILE_STUB_TOKEN', 'nothing', { as: 'nobody' })
switchTo(false)
const register = 'POST /api/user/register?turnstile=TURNSTILE_STUB_TOKEN'
const person = {
  username: 'newuser',
  password: 'longenough1',
  password2: 'longenough1',
  email: '',
  verification_code: '',
  aff_code: null,
}
add(register, 'nothing', { as: 'nobody', body: person })
refused(register, 'username_taken', { as: 'nobody', body: person })
refused(register, 'password_length', {
  as: 'nobody',
  body: { ...person, username: 'other', password: 'short', password2: 'short' },
})
refused(register, 'passwords_differ', { as: 'nobody', body: { ...person, username: 'other', password2: 'longenough2' } })
refused(register, 'username_length', { as: 'nobody', body: { ...person, username: 'longer-than-12' } })
add('GET /api/reset_password?email=a@example.com&turnstile=', 'nothing', { as: 'nobody' })
refused('POST /api/user/reset', 'reset_link_invalid', { as: 'nobody', body: { email: 'a@example.com', token: 'tok123' } })

// Channels
add('GET /api/channel/models', 'models')
add('GET /api/group/', 'texts')
add('GET /api/channel/?p=0&page_size=10&id_sort=false&tag_mode=false', 'channels')
add('GET /api/channel/?p=0&page_size=50&id_sort=true&tag_mode=false', 'channels')
add('GET /api/models', 'modelsByType')
add('GET /api/channel/search?keyword=seeded&group=null&model=gpt&id_sort=false&tag_mode=false', 'channels')
add('GET /api/channel/$channel', 'wholeChannel')
add('GET /api/channel/fetch_models/$channel', 'texts')
add('GET /api/channel/test/$channel?model=', 'anything', { beside: { time: 'seconds' } })
refused('GET /api/channel/update_balance/$channel/', 'channel_balance_failed')
add('PUT /api/channel/', 'rowStatus', { body: { id: '$channel', status: 2 } })
add('PUT /api/channel/', 'rowStatus', { body: { id: '$channel', status: 1 } })
add('PUT /api/channel/', 'rowStatus', { body: { id: '$channel', priority: 31 } })
add('PUT /api/channel/', 'rowStatus', { body: { id: '$channel', weight: 7 } })
const newChannel = {
  ...{ name: '新渠道', type: 1, key: 'sk-test', openai_organization: '', max_input_tokens: 0, base_url: '$upstream', other: '' },
  ...{ model_mapping: '{\n  "gpt-3.5-turbo": "gpt-3.5-turbo-0125"\n}', status_code_mapping: '', models: 'gpt-3.5-turbo,gpt-4o' },
  ...{ auto_ban: 1, test_model: '', groups: ['default'], group: 'default', priority: 0, weight: 0, tag: '' },
}
add('POST /api/channel/', 'anything', { body: newChannel })
refused('POST /api/channel/', 'channel_name_required', { body: { ...newChannel, key: '' } })
refused('POST /api/channel/', 'channel_models_required', { body: { ...newChannel, models: '' } })
refused('POST /api/channel/', 'json_text_invalid', { body: { ...newChannel, model_mapping: '{' } })
add('PUT /api/channel/', 'rowStatus', {
  body: {
    ...newChannel,
    id: '$channel',
    key: '',
    status: 1,
    name: 'seeded',
    created_time: 1_787_047_934,
    used_quota: 0,
    balance: 0,
  },
})
add('POST /api/channel/fetch_models', 'texts', { body: { base_url: '$upstream', type: 1, key: 'sk-test' } })
add('POST /api/channel/batch/tag', 'int', { body: { ids: ['$channel'], tag: '新标签' } })
add('GET /api/channel/?p=0&page_size=10&id_sort=false&tag_mode=true', 'channels')
add('POST /api/channel/tag/disabled', 'anything', { body: { tag: '新标签' } })
add('POST /api/channel/tag/enabled', 'anything', { body: { tag: '新标签' } })
add('PUT /api/channel/tag', 'anything', { body: { tag: '新标签', priority: 9 } })
add('PUT /api/channel/tag', 'anything', { body: { tag: '新标签', new_tag: '' } })
add('POST /api/channel/fix', 'int')
add('GET /api/channel/test', 'anything')
add('GET /api/channel/update_balance', 'anything')
add('GET /api/channel/models_enabled', 'texts')
add('DELETE /api/channel/disabled', 'int')
add('POST /api/channel/batch', 'int', { body: { ids: ['$otherChannel'] } })
add('DELETE /api/channel/$spareChannel/', 'nothing')

// Tokens
add('GET /api/user/models', 'texts', { as: 'user' })
add('GET /api/user/self/groups', 'groups', { as: 'user' })
add('GET /api/token/?p=0&size=10', 'tokens', { as: 'user' })
add('GET /api/token/?p=0&size=100', 'tokens', { as: 'user' })
add('GET /api/token/search?keyword=seeded&token=', 'tokens', { as: 'user' })
add('GET /api/token/search?keyword=&token=sk-$tokenKey', 'tokens', { as: 'user' })
add('PUT /api/token/?status_only=true', 'token', { as: 'user', body: { id: '$token', status: 2 } })
add('PUT /api/token/?status_only=true', 'token', { as: 'user', body: { id: '$token', status: 1 } })
const newToken = {
  ...{ name: 'batch', remain_quota: 500_000, expired_time: -1, unlimited_quota: false, model_limits_enabled: false },
  ...{ model_limits: '', allow_ips: '10.0.0.1\n10.0.0.2', group: '' },
}
add('POST /api/token/', 'anything', { as: 'user', body: newToken })
refused('POST /api/token/', 'token_name_required', { as: 'user', body: { ...newToken, name: '' } })
refused('POST /api/token/', 'field_invalid', { as: 'user', body: { ...newToken, remain_quota: -1 } })
add('GET /api/token/$token', 'token', { as: 'user' })
add('PUT /api/token/', 'token', {
  as: 'user',
  body: { ...newToken, id: '$token', user_id: 1, key: '$tokenKey', status: 1, name: 'seeded', accessed_time: 1, DeletedAt: null },
})
refused('GET /api/token/999999', 'not_found', { as: 'user' })
add('DELETE /api/token/$spareToken/', 'nothing', { as: 'user' })

// Redemption codes
add('POST /api/redemption/', 'keys', { body: { name: '$0.20', quota: 100_000, count: 3 } })
refused('POST /api/redemption/', 'field_invalid', { body: { name: '$0.20', quota: 100_000, count: 101 } })
add('GET /api/redemption/?p=0&page_size=10', 'redemptions')
add('GET /api/redemption/?p=-1&page_size=10', 'redemptions')
add('GET /api/redemption/search?keyword=seeded&p=1&page_size=10', 'redemptions')
add('GET /api/redemption/$redemption', 'redemption')
add('PUT /api/redemption/?status_only=true', 'rowStatus', { body: { id: '$redemption', status: 2 } })
add('PUT /api/redemption/?status_only=true', 'rowStatus', { body: { id: '$redemption', status: 1 } })
add('PUT /api/redemption/', 'redemption', {
  body: {
    id: '$redemption',
    user_id: 1,
    key: '$code',
    status: 1,
    name: 'seeded',
    quota: 100_001,
    created_time: 1,
    count: 0,
    DeletedAt: null,
  },
})
add('DELETE /api/redemption/$spareRedemption/', 'nothing')

// Users
add('GET /api/user/self', 'user')
add('GET /api/user/?p=0&page_size=10', 'users')
add('GET /api/user/search?keyword=user&group=&p=1&page_size=10', 'users')
add('GET /api/user/$user', 'user')
for (const action of ['promote', 'demote', 'disable', 'enable']) {
  add('POST /api/user/manage', 'managed', { body: { id: '$victim', action } })
}
refused('POST /api/user/manage', 'role_unchanged', { body: { id: 1, action: 'promote' } })
refused('POST /api/user/manage', 'root_protected', { body: { id: 1, action: 'disable' } })
refused('POST /api/user/manage', 'field_invalid', { body: { id: '$victim', action: 'unknown' } })
add('POST /api/user/manage', 'anything', { body: { id: '$victim', action: 'delete' } })
add('POST /api/user/', 'anything', { body: { username: 'newbie', display_name: '', password: 'longpassword' } })
refused('POST /api/user/', 'user_fields_required', { body: { username: '', display_name: '', password: '' } })
add('PUT /api/user/', 'anything', {
  body: {
    ...{ id: '$user', username: 'user', password: '', display_name: 'Carol', role: 1, status: 1, email: '', github_id: '' },
    ...{ wechat_id: '', telegram_id: '', verification_code: '', access_token: null, group: 'default', DeletedAt: null },
  },
})

// Logs
const range = 'start_timestamp=1700000000&end_timestamp=4000000000'
add(`GET /api/log/?p=1&page_size=10&type=0&username=&token_name=&model_name=&${range}&channel=&group=`, 'logs')
add(`GET /api/log/?p=0&page_size=10&type=2&username=&token_name=&model_name=gpt%25&${range}&channel=&group=`, 'logs')
add(`GET /api/log/stat?type=0&username=&token_name=&model_name=&${range}&channel=&group=`, 'statistics')
add(`GET /api/log/self/?p=1&page_size=10&type=0&token_name=&model_name=&${range}&group=`, 'logs', { as: 'user' })
add(`GET /api/log/self/stat?type=0&token_name=&model_name=&${range}&group=`, 'statistics', { as: 'user' })

// Drawing and music tasks, dashboard, prices
add('GET /api/mj/?p=0&channel_id=&mj_id=&start_timestamp=1792578409000&end_timestamp=1795174009000', 'midjourneys')
add('GET /api/mj/self/?p=0&mj_id=&start_timestamp=1792578409000&end_timestamp=1795174009000', 'midjourneys', { as: 'user' })
add('GET /api/task/?p=0&channel_id=&task_id=&start_timestamp=1795104000&end_timestamp=NaN', 'tasks')
add('GET /api/task/self?p=0&task_id=&start_timestamp=1795104000&end_timestamp=NaN', 'tasks', { as: 'user' })
const today = Math.floor(Date.now() / 1000)
const thisWeek = `start_timestamp=${today - 600_000}&end_timestamp=${today + 3600}`
add(`GET /api/data/?username=&${thisWeek}&default_time=day`, 'usage')
add(`GET /api/data/?username=user&${thisWeek}&default_time=hour`, 'usage')
add(`GET /api/data/self/?${thisWeek}&default_time=day`, 'usage', { as: 'user' })
add('GET /api/pricing', 'pricing', { as: 'nobody', beside: { group_ratio: 'anything', usable_group: 'anything' } })

// Wallet
refused('POST /api/user/topup', 'redemption_invalid', { as: 'user', body: { key: 'bad-code' } })
add('POST /api/user/topup', 'int', { as: 'user', body: { key: '$code' } })
add('POST /api/user/amount', 'text', { as: 'user', body: { amount: 12, top_up_code: '' }, beside: { message: 'longText' } })
refused('POST /api/user/amount', 'top_up_below_minimum', { as: 'user', body: { amount: 0, top_up_code: '' } })
add('POST /api/user/pay', 'form', {
  ...{ as: 'user', beside: { message: 'longText', url: 'longText' } },
  body: { amount: 12, top_up_code: '', payment_method: 'zfb' },
})

// Personal settings
add('GET /api/user/aff', 'longText', { as: 'user' })
add('POST /api/user/aff_transfer', 'nothing', { as: 'user', body: { quota: 500_000 }, beside: { message: 'longText' } })
refused('POST /api/user/aff_transfer', 'transfer_below_minimum', { as: 'user', body: { quota: 1 } })
add('GET /api/user/token', 'longText', { as: 'user' })
refused('GET /api/oauth/email/bind?email=new@example.com&code=123456', 'code_wrong', { as: 'user' })
const notify = { quota_warning_threshold: 500_000, webhook_secret: '', notification_email: '' }
refused('PUT /api/user/setting', 'webhook_url_invalid', {
  ...{ as: 'user', body: { ...notify, notify_type: 'webhook', webhook_url: 'http://insecure.example' } },
})
add('PUT /api/user/setting', 'nothing', {
  ...{ as: 'user', body: { ...notify, notify_type: 'webhook', webhook_url: 'https://ok.example/hook' } },
})
refused('PUT /api/user/self', 'password_wrong', { as: 'user', body: { password: 'abcdefgh1', original_password: 'wrong' } })

// External identities
add('GET /api/oauth/state', 'longText', { as: 'nobody' })
add('GET /api/oauth/state?aff=ANEt', 'longText', { as: 'nobody' })
refused('GET /api/oauth/github?code=abc&state=xyz', undefined, { as: 'nobody' })
refused('GET /api/oauth/linuxdo?code=abc&state=xyz', undefined, { as: 'nobody' })
refused('GET /api/oauth/wechat?code=123456', undefined, { as: 'nobody' })
refused('GET /api/oauth/wechat/bind?code=654321', undefined, { as: 'user' })
refused('GET /api/oauth/telegram/login?id=12345&first_name=A&last_name=B&username=tg&auth_date=1700000000&hash=abc', undefined, {
  as: 'nobody',
})
refused('GET /api/oauth/telegram/bind?id=12345&first_name=A&auth_date=1700000000&hash=abc', undefined, { as: 'user' })

// Settings of the site
add('GET /api/option/', 'options')
const save = (key: string, value: string) => add('PUT /api/option/', 'nothing', { body: { key, value } })
save('RetryTimes', '3')
save('DefaultCollapseSidebar', 'true')
save('SensitiveWords', 'bad1\nbad2')
save('DataExportInterval', '10')
save('ChannelDisableThreshold', '45')
save('GroupRatio', '{"default":1,"vip":0.7,"svip":0.6}')
refused('PUT /api/option/', 'option_invalid', { body: { key: 'GroupRatio', value: '{"vip":-1}' } })
// The save buttons of these consoles send all fields of a block, including unchanged ones.
save('RetryTimes', '3')
for (const key of ['ModelPrice', 'ModelRatio', 'CompletionRatio']) save(key, '{}')
for (const key of ['ModelPrice', 'ModelRatio', 'CompletionRatio']) save(key, '{}')
refused('PUT /api/option/', 'json_text_invalid', { body: { key: 'ModelRatio', value: '{' } })
refused('PUT /api/option/', 'option_unknown', { body: { key: 'NoSuchOption', value: '1' } })
refused('PUT /api/option/', 'option_needs', { body: { key: 'GitHubOAuthEnabled', value: 'true' } })
save('gemini.version_settings', '{"default":"v1"}')
save('claude.default_max_tokens', '{"default":4096}')
save('ModelRequestRateLimitCount', '60')
save('WorkerUrl', 'https://w.example.com')
add('PUT /api/option/', 'nothing', { body: { key: 'WorkerValidKey' } })
save('EmailDomainWhitelist', 'gmail.com,corp.example')
save('GitHubClientId', 'newid')
save('GitHubClientSecret', 'newsecret')
save('Notice', '公告 **内容**')
save('SystemName', 'Relay X')
save('Footer', '<b>foot</b>')
refused('PUT /api/option/', 'permission_denied', { as: 'user', body: { key: 'RetryTimes', value: '4' } })
add('POST /api/option/rest_model_ratio', 'nothing', { beside: { message: 'longText' } })
refused('DELETE /api/log/', 'log_time_required')
add('DELETE /api/log/?target_timestamp=1792492226', 'int')

// Leaving
refused('DELETE /api/user/self', 'root_protected')
add('DELETE /api/user/self', 'nothing', { as: 'leaver' })
add('GET /api/user/logout', 'nothing', { as: 'passerBy' })

export const recordedCalls: readonly RecordedCall[] = calls
