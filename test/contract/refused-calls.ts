import type { ErrorCode } from '../../src/contract/errors.ts'
import type { Who } from './site.ts'

/**
 * The failures that the console reports, each provoked by a call. `$name` is replaced by the seeded value. A call may use the
 * results of calls before it, here or among the recorded calls.
 */
export interface RefusedCall {
  readonly code: ErrorCode
  readonly call: string
  /** Root by default. */
  readonly as?: Who
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Options during the call; the earlier values are restored afterwards. */
  readonly options?: Readonly<Record<string, string>>
  /** 200 by default: business failures keep the status of success. */
  readonly status?: number
  /** The two calls whose reason consoles read from `data`. */
  readonly reasonInData?: true
  /** The call whose reply contains its duration. */
  readonly timed?: true
}

const calls: RefusedCall[] = []
const add = (code: ErrorCode, call: string, more: Omit<RefusedCall, 'code' | 'call'> = {}) => calls.push({ code, call, ...more })
const nobody = { as: 'nobody' } as const
const user = { as: 'user' } as const
const admin = { as: 'admin' } as const

// Any call
add('not_signed_in', 'GET /api/token/', { ...nobody, status: 401 })
add('user_header_invalid', 'GET /api/token/', { ...user, headers: { 'new-api-user': '999' }, status: 401 })
add('access_token_invalid', 'GET /api/token/', {
  ...nobody,
  headers: { authorization: 'Bearer nothing', 'new-api-user': '1' },
  status: 401,
})
add('permission_denied', 'GET /api/user/', user)
add('permission_denied', 'GET /api/audit/', admin)
add('origin_refused', 'POST /api/token/', {
  ...user,
  body: {},
  headers: { origin: 'https://other.test', 'sec-fetch-site': 'cross-site' },
  status: 403,
})
add('origin_refused', 'GET /api/user/token', { ...user, headers: { 'sec-fetch-site': 'cross-site' }, status: 403 })
add('bad_json', 'POST /api/token/', { ...user, body: '{' })
add('media_type_unsupported', 'POST /api/token/', {
  ...user,
  body: 'name=x',
  headers: { 'content-type': 'text/plain' },
  status: 415,
})
add('encoding_unsupported', 'POST /api/token/', { ...user, body: {}, headers: { 'content-encoding': 'gzip' } })
add('route_unknown', 'GET /api/nothing/here', { ...nobody, status: 404 })
for (const kind of ['user', 'channel', 'redemption', 'token']) add('not_found', `GET /api/${kind}/999999`)
for (const kind of ['redemption', 'token', 'user']) add('not_found', `DELETE /api/${kind}/999999`)
for (const act of ['copy', 'keys', 'keys/status', 'model_changes/apply', 'model_changes/dismiss'])
  add('not_found', `POST /api/channel/999999/${act}`, { body: { key: 'x', ids: [1], status: 1 } })
for (const read of ['999999/keys', 'test/999999', 'update_balance/999999/', 'fetch_models/999999'])
  add('not_found', `GET /api/channel/${read}`)
add('not_found', 'DELETE /api/channel/$channel/keys/999999')
for (const own of ['sessions', 'passkey', 'self/views']) add('not_found', `DELETE /api/user/${own}/999999`, user)
add('not_found', 'POST /api/user/999999/quota', { body: { change: 1, reason: 'x' } })
for (const job of ['nothing', 'expire-holds']) add('not_found', `POST /api/job/${job}/run`)
for (const act of ['complete', 'withdraw']) add('not_found', `POST /api/topup/999999/${act}`, { body: { quota: 1, reason: 'x' } })
add('not_found', 'PUT /api/channel/', { body: { id: 999_999, name: 'x' } })
add('not_found', 'PUT /api/redemption/', { body: { id: 999_999, name: 'x', quota: 1 } })
add('not_found', 'PUT /api/token/', { body: { id: 999_999, name: 'x' } })
add('not_found', 'PUT /api/user/', { body: { id: 999_999, display_name: 'x' } })
add('not_found', 'POST /api/user/manage', { body: { id: 999_999, action: 'disable' } })
add('not_found', 'GET /api/token/$token', { as: 'admin' })
add('not_found', 'DELETE /api/token/$token', { as: 'admin' })

// Login, registration, reset
const login = (username: string, password = '$password') => ({ ...nobody, body: { username, password } })
const enter = 'POST /api/user/login'
add('credentials_required', enter, login('user', ''))
add('credentials_required', enter, { ...nobody, body: { username: 'user' } })
add('credentials_wrong', enter, login('nobody at all'))
add('credentials_wrong', enter, login('banned'))
add('password_login_disabled', enter, { ...login('user'), options: { PasswordLoginEnabled: 'false' } })
const turnstile = { TurnstileSiteKey: 'site', TurnstileSecretKey: 'secret', TurnstileCheckEnabled: 'true' }
add('human_check_failed', `${enter}?turnstile=`, { ...login('user'), options: turnstile })
const person = { username: 'fresh', password: 'longenough1', password2: 'longenough1' }
const register = (more: object = {}) => ({ ...nobody, body: { ...person, ...more } })
const enrol = 'POST /api/user/register'
add('registration_closed', enrol, { ...register(), options: { RegisterEnabled: 'false' } })
add('registration_closed', enrol, { ...register(), options: { PasswordRegisterEnabled: 'false' } })
add('human_check_failed', enrol, { ...register(), options: turnstile })
add('username_length', enrol, register({ username: '' }))
add('username_length', enrol, { ...nobody, body: { password: 'longenough1' } })
add('password_length', enrol, { ...nobody, body: { username: 'fresh' } })
add('username_length', enrol, register({ username: 'x'.repeat(13) }))
add('username_characters', enrol, register({ username: 'a@b' }))
add('username_characters', enrol, register({ username: 'a\u202eb' }))
add('field_invalid', enrol, register({ username: ['fresh'] }))
add('field_invalid', enrol, { ...nobody, body: [] })
add('username_taken', enrol, register({ username: 'USER' }))
add('password_length', enrol, register({ password: 'x'.repeat(21), password2: 'x'.repeat(21) }))
add('password_weak', enrol, register({ password: 'password1', password2: 'password1' }))
add('passwords_differ', enrol, register({ password2: 'different12' }))
const verified = { EmailVerificationEnabled: 'true' }
add('email_required', enrol, { ...register(), options: verified })
add('code_wrong', enrol, { ...register({ email: 'new@site.test', verification_code: '000000' }), options: verified })
const mailed = (email: string) => `GET /api/verification?email=${encodeURIComponent(email)}`
add('email_code_unneeded', mailed('one@site.test'), nobody)
add('email_invalid', mailed('no address'), { ...nobody, options: verified })
const whitelist = { EmailDomainWhitelist: 'corp.example', EmailDomainRestrictionEnabled: 'true' }
add('email_domain_refused', mailed('one@site.test'), { ...nobody, options: { ...verified, ...whitelist } })
add('email_alias_refused', mailed('o.ne+x@site.test'), {
  ...nobody,
  options: { ...verified, EmailAliasRestrictionEnabled: 'true' },
})
add('human_check_failed', mailed('one@site.test'), { ...nobody, options: { ...verified, ...turnstile } })
add('mail_unconfigured', mailed('one@site.test'), { ...nobody, options: { ...verified, SMTPServer: '' } })
add('code_too_soon', mailed('mailed@example.com'), { ...nobody, options: verified })
add('email_invalid', 'GET /api/reset_password?email=', nobody)
add('reset_link_invalid', 'POST /api/user/reset', { ...nobody, body: { email: 'user@site.test', token: '' } })
add('reset_link_invalid', 'POST /api/user/reset', { ...nobody, body: { email: 'user@site.test' } })

// The caller's own account
add('password_wrong', 'PUT /api/user/self', { ...user, body: { password: 'anotherone1', current_password: 'wrong' } })
add('password_length', 'PUT /api/user/self', { ...user, body: { password: 'short', current_password: '$password' } })
add('field_invalid', 'PUT /api/user/self', { ...user, body: { display_name: 'x'.repeat(21) } })
add('username_length', 'PUT /api/user/self', { ...user, body: { username: 'x'.repeat(13) } })
add('password_weak', 'PUT /api/user/self', { ...user, body: { password: 'password1', current_password: '$password' } })
add('username_taken', 'PUT /api/user/self', { ...user, body: { username: 'admin' } })
add('root_protected', 'DELETE /api/user/self')
add('password_wrong', 'POST /api/user/verify', { as: 'otherAdmin', body: { password: 'wrong' } })
add('code_wrong', 'GET /api/oauth/email/bind?email=new@site.test&code=000000', user)
add('email_required', 'GET /api/oauth/email/bind?email=&code=', user)
add('webhook_url_invalid', 'PUT /api/user/setting', {
  ...user,
  body: { notify_type: 'webhook', webhook_url: 'http://plain.test/' },
})
add('email_invalid', 'PUT /api/user/setting', { ...user, body: { notify_type: 'email', notification_email: 'no address' } })
add('field_invalid', 'PUT /api/user/setting', { ...user, body: { quota_warning_threshold: -1 } })
add('field_invalid', 'PUT /api/user/setting', { ...user, body: { quota_warning_threshold: [5] } })
add('field_invalid', 'PUT /api/user/setting', { ...user, body: { notify_type: 'pigeon' } })
add('notification_email_unverified', 'PUT /api/user/setting', { ...user, body: { notification_email: 'other@site.test' } })
add('notice_no_address', 'POST /api/user/setting/test', { as: 'admin' })
add('second_factor_wrong', 'POST /api/user/two_factor/confirm', { ...user, body: { code: '000000' } })
add('two_factor_off', 'DELETE /api/user/two_factor', user)
add('login_step_lost', 'POST /api/user/login/second', { ...nobody, body: { code: '000000' } })
add('passkeys_unconfigured', 'POST /api/user/login/passkey/options', {
  ...nobody,
  body: {},
  options: { ServerAddress: 'http://192.0.2.7' },
})
add('passkeys_too_many', 'POST /api/user/passkey/options', { as: 'otherAdmin', body: {} })
add('outside_off', 'GET /api/oauth/github?code=x&state=y', nobody)
add('outside_off', 'GET /api/oauth/wechat?code=x', nobody)
add('outside_off', 'POST /api/user/binding', { ...user, body: { provider: 'github' } })

// Users
const manage = (id: string | number, action: string) => ({ body: { id, action } })
add('user_protected', 'GET /api/user/1', admin)
add('user_protected', 'PUT /api/user/', { ...admin, body: { id: 1, display_name: 'x' } })
add('user_protected', 'POST /api/user/manage', { ...admin, ...manage(1, 'disable') })
add('user_protected', 'POST /api/user/1/quota', { ...admin, body: { change: 1, reason: 'x' } })
add('user_protected', 'DELETE /api/user/$otherAdmin', admin)
add('promote_forbidden', 'POST /api/user/manage', { ...admin, ...manage('$user', 'promote') })
add('permission_denied', 'POST /api/user/manage', { ...admin, ...manage('$locked', 'unlock') })
add('user_protected', 'POST /api/user/manage', { ...admin, ...manage('$otherAdmin', 'sign_out') })
add('user_locked', 'POST /api/user/manage', { ...admin, ...manage('$locked', 'enable') })
add('root_protected', 'POST /api/user/manage', manage(1, 'demote'))
add('root_protected', 'POST /api/user/manage', manage(1, 'delete'))
add('root_protected', 'DELETE /api/user/1')
add('role_unchanged', 'POST /api/user/manage', manage('$user', 'demote'))
add('not_found', 'POST /api/user/manage', manage('$gone', 'enable'))
add('not_found', 'PUT /api/user/', { body: { id: '$gone', display_name: 'x' } })
add('user_fields_required', 'POST /api/user/', { body: { display_name: 'nobody' } })
add('user_fields_required', 'POST /api/user/', { body: { username: 'x', display_name: '', password: '' } })
add('username_length', 'POST /api/user/', { body: { username: 'x'.repeat(13), password: 'longenough1' } })
add('username_taken', 'POST /api/user/', { body: { username: 'user', password: 'longenough1' } })
add('password_length', 'POST /api/user/', { body: { username: 'x', password: 'short' } })
add('username_taken', 'PUT /api/user/', { body: { id: '$user', username: 'ADMIN' } })
add('username_length', 'PUT /api/user/', { body: { id: '$user', username: 'x'.repeat(13) } })
add('display_name_length', 'PUT /api/user/', { body: { id: '$user', display_name: 'x'.repeat(21) } })
add('password_length', 'PUT /api/user/', { body: { id: '$user', password: 'short' } })
add('quota_below_zero', 'PUT /api/user/', { body: { id: '$user', quota: -1 } })
add('nothing_changed', 'POST /api/user/$user/quota', { body: { change: 0, reason: 'x' } })
add('amount_out_of_range', 'POST /api/user/$user/quota', { body: { change: Number.MAX_SAFE_INTEGER, reason: 'x' } })
add('group_unknown', 'POST /api/user/batch', { body: { ids: ['$user'], action: 'group' } })
add('group_unknown', 'PUT /api/user/', { body: { id: '$user', group: 'nowhere' } })
add('quota_below_zero', 'POST /api/user/$user/quota', { body: { change: -999_999_999_999, reason: 'x' } })
add('field_invalid', 'POST /api/user/$user/quota', { body: { change: 1, reason: '' } })
add('own_password', 'PUT /api/user/', { body: { id: 1, password: 'anotherone1' } })

// Options
const save = (key: string, value: string) => ({ body: { key, value } })
add('option_unknown', 'PUT /api/option/', save('NoSuch', '1'))
add('option_forbidden', 'PUT /api/option/', { ...admin, ...save('SMTPServer', 'mail.other.test') })
add('option_invalid', 'PUT /api/option/', save('RetryTimes', '-1'))
add('option_invalid', 'PUT /api/option/', save('DataExportInterval', '0'))
add('option_invalid', 'PUT /api/option/', save('MinTopUp', '0'))
add('option_invalid', 'PUT /api/option/', save('ModelRequestRateLimitSuccessCount', '0'))
add('option_invalid', 'PUT /api/option/', save('claude.thinking_adapter_budget_tokens_percentage', '0.05'))
for (const key of ['GroupRatio', 'UserUsableGroups', 'ModelPrice', 'ModelRatio', 'CompletionRatio', 'Chats', 'TopupGroupRatio'])
  add('json_text_invalid', 'PUT /api/option/', save(key, '{'))
for (const key of ['gemini.safety_settings', 'claude.model_headers_settings', 'claude.default_max_tokens'])
  add('json_text_invalid', 'PUT /api/option/', save(key, 'x'))
add('option_invalid', 'PUT /api/option/', { body: { key: 'RetryTimes' } })
add('option_invalid', 'PUT /api/option/', save('GroupRatio', '{"vip":1}'))
add('field_invalid', 'PUT /api/option/', { body: { key: 'RetryTimes', value: [1] } })
add('option_needs', 'PUT /api/option/', {
  ...save('EmailDomainRestrictionEnabled', 'true'),
  options: { EmailDomainWhitelist: '' },
})
add('option_needs', 'PUT /api/option/', save('TelegramOAuthEnabled', 'true'))
add('option_needs', 'PUT /api/option/', save('TurnstileCheckEnabled', 'true'))
add('option_needs', 'PUT /api/option/', save('WeChatAuthEnabled', 'true'))
add('option_needs', 'PUT /api/option/', save('ServerAddress', ''))
add('mail_unconfigured', 'POST /api/option/test_mail', { body: { email: 'one@site.test' }, options: { SMTPServer: '' } })

// Channels
const channel = { name: 'one', type: 1, key: 'sk-x', base_url: '$upstream', models: 'gpt-4o' }
add('channel_name_required', 'POST /api/channel/', { body: { ...channel, name: '' } })
for (const [code, missing] of [
  ['channel_name_required', 'name'],
  ['channel_name_required', 'key'],
  ['channel_models_required', 'models'],
] as const) {
  add(code, 'POST /api/channel/', { body: { ...channel, [missing]: undefined } })
  add(code, 'POST /api/channel/', { body: { ...channel, [missing]: null } })
}
add('channel_name_required', 'POST /api/channel/', { body: { ...channel, name: '\u200b' } })
add('channel_models_required', 'PUT /api/channel/', { body: { id: '$channel', models: ' , ' } })
add('field_invalid', 'POST /api/channel/', { body: { ...channel, priority: -1000 } })
add('channel_type_unknown', 'POST /api/channel/', { body: { ...channel, type: 9999 } })
add('channel_url_required', 'POST /api/channel/', { body: { ...channel, type: 8, base_url: '' } })
add('channel_url_invalid', 'POST /api/channel/', { body: { ...channel, base_url: 'http://169.254.169.254' } })
add('channel_mapping_loop', 'POST /api/channel/', { body: { ...channel, model_mapping: '{"a":"b","b":"a"}' } })
add('json_text_invalid', 'POST /api/channel/', { body: { ...channel, status_code_mapping: '{' } })
add('channel_key_reenter', 'PUT /api/channel/', { body: { id: '$channel', base_url: 'https://other.test' } })
add('channel_key_last', 'DELETE /api/channel/$channel/keys/$channelKey')
add('channel_not_testable', 'GET /api/channel/test/$drawing')
add('channel_list_unsupported', 'GET /api/channel/fetch_models/$drawing')
add('channel_list_failed', 'POST /api/channel/fetch_models', { body: { type: 1, key: 'x', base_url: 'http://127.0.0.1:1' } })
add('channel_balance_unsupported', 'GET /api/channel/update_balance/$drawing/')
add('channel_test_failed', 'GET /api/channel/test/$broken', { timed: true })
add('channel_tag_unknown', 'POST /api/channel/tag/enabled', { body: { tag: 'nowhere' } })
for (const act of ['enabled', 'disabled']) add('tag_required', `POST /api/channel/tag/${act}`, { body: {} })
add('tag_required', 'PUT /api/channel/tag', { body: { tag: '', priority: 1 } })
add('channel_tag_unknown', 'PUT /api/channel/tag', { body: { tag: 'nowhere', priority: 1 } })
add('tag_required', 'POST /api/channel/batch/tag', { body: { ids: ['$channel'], tag: '' } })
add('nothing_changed', 'PUT /api/channel/tag', { body: { tag: 'kept' } })
add('json_text_invalid', 'PUT /api/channel/tag', { body: { tag: 'kept', model_mapping: '{' } })
add('field_invalid', 'POST /api/channel/batch', { body: { ids: [] } })

// Tokens
const token = { name: 'one', unlimited_quota: true }
add('token_name_required', 'POST /api/token/', { ...user, body: { ...token, name: 'x'.repeat(31) } })
add('token_name_required', 'POST /api/token/', { ...user, body: { unlimited_quota: true } })
add('token_name_required', 'POST /api/token/', { ...user, body: { ...token, name: ' \u200b' } })
add('token_name_required', 'PUT /api/token/', { ...user, body: { id: '$token' } })
add('group_forbidden', 'PUT /api/token/', { ...user, body: { ...token, id: '$token', group: 'nowhere' } })
add('field_invalid', 'POST /api/token/', { ...user, body: { ...token, model_limits_enabled: true } })
add('field_invalid', 'PUT /api/token/?status_only=true', { ...user, body: { id: '$token', status: 3 } })
add('group_forbidden', 'POST /api/token/', { ...user, body: { ...token, group: 'nowhere' } })
add('address_list_invalid', 'POST /api/token/', { ...user, body: { ...token, allow_ips: '10.0.0.1\nhere' } })
add('field_invalid', 'POST /api/token/', { ...user, body: { ...token, expired_time: 'soon' } })
add('token_not_enableable', 'PUT /api/token/?status_only=true', { ...user, body: { id: '$expiredToken', status: 1 } })

// Money in
add('redemption_invalid', 'POST /api/user/topup', { ...user, body: { key: '' } })
add('redemption_invalid', 'POST /api/user/topup', { ...user, body: {} })
add('redemption_used', 'POST /api/user/topup', { ...user, body: { key: '$usedCode' } })
add('redemption_expired', 'POST /api/user/topup', { ...user, body: { key: '$expiredCode' } })
add('redemption_invalid', 'POST /api/user/topup', { ...user, body: { key: '$disabledCode' } })
add('redemption_not_editable', 'PUT /api/redemption/', { body: { id: '$usedRedemption', name: 'x', quota: 1 } })
add('redemption_used', 'PUT /api/redemption/?status_only=true', { body: { id: '$usedRedemption', status: 1 } })
add('field_invalid', 'POST /api/redemption/', { body: { name: '', quota: 1, count: 1 } })
add('field_invalid', 'POST /api/redemption/', { body: { name: 'x'.repeat(21), quota: 1, count: 1 } })
add('field_invalid', 'POST /api/redemption/', { body: { name: 'x', quota: 0, count: 1 } })
add('field_invalid', 'POST /api/redemption/', { body: { name: 'x', quota: 1, count: 0 } })
add('field_invalid', 'POST /api/redemption/', { body: { name: 'x', quota: 1, count: 1, expired_time: 1 } })
add('field_invalid', 'PUT /api/redemption/?status_only=true', { body: { id: '$spareRedemption', status: 3 } })
const order = { amount: 12, top_up_code: '', payment_method: 'zfb' }
add('top_up_disabled', 'POST /api/user/pay', { ...user, body: order, options: { PayAddress: '' } })
add('top_up_disabled', 'POST /api/user/amount', { ...user, body: order, options: { PayAddress: '' } })
add('payment_method_unknown', 'POST /api/user/pay', { ...user, body: { ...order, payment_method: 'shells' } })
add('top_up_below_minimum', 'POST /api/user/pay', { ...user, body: { ...order, amount: 0.5 } })
add('top_up_below_minimum', 'POST /api/user/pay', { ...user, body: { ...order, amount: 4 }, options: { MinTopUp: '5' } })
add('top_up_below_minimum', 'POST /api/user/amount', { ...user, body: { ...order, amount: null }, reasonInData: true })
add('field_invalid', 'POST /api/user/pay', { ...user, body: { amount: 12 }, reasonInData: true })
add('top_up_too_small', 'POST /api/user/amount', {
  ...user,
  body: { ...order, amount: 1 },
  options: { TopupGroupRatio: '{"default":0.0001}' },
})
add('amount_out_of_range', 'POST /api/user/amount', { ...user, body: { amount: 1e12 }, reasonInData: true })
add('transfer_below_minimum', 'POST /api/user/aff_transfer', { ...user, body: { quota: -500_000 } })
add('field_invalid', 'POST /api/user/aff_transfer', { ...user, body: {} })
add('transfer_exceeds_earned', 'POST /api/user/aff_transfer', { ...user, body: { quota: 900_000_000 } })
add('not_found', 'POST /api/topup/999999/check')
add('payment_provider_failed', 'POST /api/topup/$order/check')
add('top_up_not_refunded', 'POST /api/topup/$order/withdraw', { body: { quota: 1, reason: 'x' } })
add('top_up_credited', 'POST /api/topup/$paidOrder/complete', { body: { reason: 'x' } })

// Logs, dashboard, prices
add('log_time_required', 'DELETE /api/log/?target_timestamp=')
add('log_time_required', 'POST /api/log/purge', { body: { before: 0 } })
add('data_span_too_long', 'GET /api/data/sums?start_timestamp=1&end_timestamp=4000000000')
add('data_span_too_long', 'GET /api/data/self/sums?start_timestamp=1&end_timestamp=4000000000', user)
add('data_span_too_long', 'GET /api/data/self?start_timestamp=1&end_timestamp=4000000000', user)
add('data_span_too_long', 'GET /api/data/?start_timestamp=1&end_timestamp=4000000000')
add('prices_for_members', 'GET /api/user/groups', { ...nobody, options: { PricingPublicEnabled: 'false' } })
add('prices_for_members', 'GET /api/pricing', { ...nobody, options: { PricingPublicEnabled: 'false' } })
add('update_feed_missing', 'GET /api/system/update')

export const refusedCalls: readonly RefusedCall[] = calls
