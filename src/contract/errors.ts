import type { Text } from './text.ts'

/**
 * Every failure that a caller can receive. `status` is the HTTP status on the relay; the console answers business failures with 200
 * and `success: false`, and uses the status only if `onConsole` is set.
 */
export interface ErrorKind {
  readonly status: number
  readonly text: Text
  /** The console keeps the HTTP status for this one (401, 403 of another origin, 405, 413, 429, 5xx). */
  readonly onConsole?: 'status'
  /** The OpenAI `type` of the error; the dialects derive theirs from the status when this is absent. */
  readonly type?: string
  /**
   * A client must not repeat the same request at once, although its status suggests it: sent as `x-should-retry: false`. Statuses of the
   * caller's mistakes say so by themselves.
   */
  readonly final?: true
}

const kind = (status: number, zh: string, en: string, more: Omit<ErrorKind, 'status' | 'text'> = {}): ErrorKind => ({
  status,
  text: { zh, en },
  ...(status >= 500 || status === 401 || status === 405 || status === 413 || status === 429
    ? { onConsole: 'status' as const }
    : {}),
  ...more,
})

export const errors = {
  // Requests of any kind
  internal: kind(
    500,
    '服务器内部错误，请联系管理员（请求编号 {request}）',
    'Internal server error, contact the admin (request id {request})',
    { type: 'server_error' },
  ),
  bad_request: kind(400, '请求无效：{reason}', 'Invalid request: {reason}'),
  bad_json: kind(400, '请求体不是有效的 JSON：{reason}', 'The request body is not valid JSON: {reason}'),
  field_invalid: kind(400, '字段 {field} 无效：{reason}', 'Field {field} is invalid: {reason}'),
  body_too_large: kind(413, '请求体过大，上限为 {limit} 字节', 'The request body is too large; the limit is {limit} bytes'),
  headers_too_many: kind(431, '请求头过多，上限为 {limit} 个', 'The request has too many headers; the limit is {limit}', {
    onConsole: 'status',
  }),
  encoding_unsupported: kind(415, '不支持的请求编码 {encoding}', 'Request encoding {encoding} is not supported'),
  media_type_unsupported: kind(415, '请求体须为 application/json', 'The request body must be application/json', {
    onConsole: 'status',
  }),
  route_unknown: kind(404, '无效的地址：Invalid URL ({method} {path})', 'Invalid URL ({method} {path})'),
  route_misspelled: kind(
    404,
    '无效的地址（{method} {path}），是否应为 {meant}？',
    'Invalid URL ({method} {path}); did you mean {meant}?',
  ),
  outside_base_path: kind(404, '本站位于 {base} 之下，此处没有 {path}', 'This server is below {base}, and has nothing at {path}'),
  upgrade_required: kind(426, '该地址只接受 WebSocket 连接', 'This URL only takes WebSocket connections'),
  method_not_allowed: kind(405, '该地址不支持 {method} 方法', 'This URL does not support the method {method}'),
  not_implemented: kind(501, '该接口尚未提供', 'This endpoint is not offered', { final: true }),
  not_found: kind(404, '记录不存在', 'No such record'),
  role_unchanged: kind(400, '该用户已是{role}', 'The user is {role} already'),
  nothing_changed: kind(400, '你似乎并没有修改什么', 'You seem to have changed nothing'),
  too_many_requests: kind(429, '请求次数过多，请稍后再试', 'Too many requests, try again later', { type: 'rate_limit_exceeded' }),
  database_unavailable: kind(503, '数据库暂时不可用，请稍后再试', 'The database is unavailable, try again later', {
    type: 'server_error',
  }),
  idempotency_key_invalid: kind(
    400,
    'Idempotency-Key 须为 1 到 255 个可见的 ASCII 字符',
    'Idempotency-Key must have 1 to 255 visible ASCII characters',
  ),
  idempotency_key_reused: kind(
    422,
    '该 Idempotency-Key 已用于另一个请求（地址或请求体不同），请换用新的键',
    'This Idempotency-Key was used for a request with another address or body; send a new key for a new request',
    { final: true },
  ),
  idempotency_key_in_use: kind(
    409,
    '使用该 Idempotency-Key 的请求仍在处理，请稍后以同一个键重试',
    'The request with this Idempotency-Key is still being processed; retry later with the same key',
  ),
  idempotency_reply_unavailable: kind(
    409,
    '使用该 Idempotency-Key 的请求已完成并计费，但其回复没有保存（超过大小上限，或服务器在发送前停止）。换用新的键会重新执行并再次计费',
    'The request with this Idempotency-Key was completed and charged, but its reply is not stored: it exceeded the size limit, or the server stopped before it was stored. A new key runs the request again and charges it again',
    { final: true },
  ),
  resume_unknown: kind(
    404,
    '没有保存此事件 ID 对应的应答：它已过期、不支持续传，或属于其他令牌。去掉 Last-Event-ID 会重新执行请求并再次计费',
    'No answer is kept for this event id: it has expired, is not resumable, or belongs to another token. Without Last-Event-ID the request runs, and is charged, again',
    { final: true },
  ),
  resume_other_request: kind(
    422,
    'Last-Event-ID 属于另一个请求：请发送相同的地址和内容，或读取 GET /v1/requests/{id}/events',
    'The Last-Event-ID belongs to another request: send the same address and body, or read GET /v1/requests/{id}/events',
    { final: true },
  ),
  resume_cut: kind(
    502,
    '应答在结束前中断，已保存的部分已全部发送。重新发送请求会再次计费',
    'The answer broke off before its end, and all that is kept of it was sent. Sending the request again charges it again',
  ),
  server_stopping: kind(503, '服务器正在停止，请重试', 'The server is stopping, try again', { type: 'server_error' }),
  server_busy: kind(503, '服务器繁忙，请稍后再试', 'The server is busy, try again later', { type: 'server_error' }),
  job_running: kind(409, '该任务正在执行，请稍后再试', 'This job is running already; try again later'),
  price_data_unreadable: kind(400, '获取价格数据失败：{reason}', 'Newer price data could not be read: {reason}'),
  price_data_changed: kind(
    409,
    '该价格数据已被处理或替换，请刷新页面后再看',
    'This price data was replaced or decided on already; load the page anew and look again',
  ),
  update_feed_missing: kind(
    400,
    '此版本没有自带发布信息地址，也未设置；请在其他设置中填写“发布信息地址”',
    'This version has no address of releases, and none is set; enter a release feed under Settings › Other',
  ),
  update_check_failed: kind(400, '检查更新失败：{reason}', 'The update check failed: {reason}'),
  demo_site: kind(405, '本站仅用于演示，无服务端', 'This site is demo only, no server'),

  // Sessions and accounts
  not_signed_in: kind(401, '未登录或登录已过期，请重新登录', 'Not logged in or login has expired, please log in again'),
  user_header_invalid: kind(
    401,
    '请求头 New-Api-User 缺失或与登录用户不一致',
    'Header New-Api-User is missing or does not match the signed-in user',
  ),
  origin_refused: kind(403, '拒绝来自其他站点的请求', 'Requests from another site are refused', { onConsole: 'status' }),
  permission_denied: kind(403, '权限不足', 'Insufficient permission'),
  access_token_invalid: kind(401, '系统访问令牌（access token）无效', 'The access token is invalid'),
  must_change_password: kind(403, '请先修改默认密码', 'Change the default password first'),
  credentials_required: kind(400, '请输入用户名和密码', 'Please enter username and password'),
  user_fields_required: kind(400, '用户名和密码不能为空', 'Username and password cannot be empty'),
  credentials_wrong: kind(401, '用户名或密码错误，或用户已被封禁', 'Wrong username or password, or the user is banned', {
    onConsole: undefined,
  }),
  login_throttled: kind(
    429,
    '登录失败次数过多，请在 {seconds} 秒后重试',
    'Too many failed logins, try again in {seconds} {seconds|second|seconds}',
  ),
  password_login_disabled: kind(403, '管理员关闭了密码登录', 'Password login is disabled'),
  registration_closed: kind(403, '管理员关闭了新用户注册', 'Registration is closed'),
  user_banned: kind(403, '用户已被封禁', 'The user is banned'),
  username_taken: kind(409, '用户名已存在', 'The username is taken'),
  username_length: kind(400, '用户名长度须为 1 到 12 个字符', 'The username must have 1 to 12 characters'),
  username_characters: kind(400, '用户名不能包含 @ 或不可见字符', 'The username must not contain @ or invisible characters'),
  display_name_length: kind(400, '显示名称最多 20 个字符', 'The display name may have at most 20 characters'),
  password_length: kind(400, '密码长度须为 8 到 20 个字符', 'The password must have 8 to 20 characters'),
  password_weak: kind(400, '该密码过于常见，请换一个', 'This password is too common, choose another'),
  password_wrong: kind(403, '当前密码错误', 'The current password is wrong'),
  passwords_differ: kind(400, '两次输入的密码不一致', 'The two passwords do not match'),
  fresh_login_required: kind(403, '请先验证密码，或重新登录', 'Enter your password again, or log in anew'),
  human_check_failed: kind(403, '人机校验失败，请重试', 'The human check failed, try again'),
  email_required: kind(400, '请输入邮箱地址和验证码', 'Enter an e-mail address and the verification code'),
  notification_email_unverified: kind(
    400,
    '新的通知邮箱须在本控制台的个人设置中，用寄到该邮箱的验证码确认',
    'Confirm a new notification address in the personal settings of this console, with the code that is mailed to it',
  ),
  email_invalid: kind(400, '无效的邮箱地址', 'Not a valid e-mail address'),
  email_taken: kind(409, '该邮箱已被使用', 'The e-mail address is taken'),
  email_domain_refused: kind(
    403,
    '管理员启用了邮箱域名白名单，您的邮箱域名不在其中',
    'Only e-mail addresses of certain domains are accepted, and yours is not one of them',
  ),
  email_alias_refused: kind(
    403,
    '管理员启用了邮箱别名限制，您的邮箱地址含有 + 或 .',
    'E-mail aliases are refused: there is a plus sign or a dot before the @',
  ),
  email_code_unneeded: kind(400, '本站注册无需验证邮箱', 'Registering at this site needs no verified e-mail'),
  code_wrong: kind(403, '验证码错误或已过期', 'The verification code is wrong or has expired'),
  code_too_soon: kind(429, '发送过于频繁，请在 {seconds} 秒后重试', 'Sent too often, try again in {seconds} seconds', {
    onConsole: undefined,
  }),
  reset_link_invalid: kind(403, '重置链接无效或已过期', 'The reset link is invalid or has expired'),
  webhook_url_invalid: kind(
    400,
    'Webhook 地址须以 https:// 开头，不能含用户名和密码，端口须为 443 或不小于 1024',
    'The webhook address must begin with https://, without user name and password, at port 443 or one from 1024 on',
  ),
  user_protected: kind(403, '无权操作同级或更高级别的用户', 'Users of equal or higher level cannot be viewed or changed'),
  promote_forbidden: kind(403, '普通管理员不能提升用户为管理员', 'A regular admin cannot promote anyone to admin'),
  user_locked: kind(
    403,
    '该用户已被系统锁定，只能由超级管理员解除',
    'The user was locked by the system; only the super admin can unlock',
  ),
  own_password: kind(400, '请在个人设置中修改自己的密码', 'Change your own password in the personal settings'),
  quota_below_zero: kind(400, '额度不能低于零，当前为 {have}', 'The quota cannot go below zero; it is {have}'),
  root_protected: kind(403, '无法禁用、删除或降级超级管理员', 'The super admin cannot be disabled, deleted or demoted'),
  user_deleted: kind(403, '该账户已注销', 'The account was deleted'),
  second_factor_required: kind(403, '请输入两步验证码', 'Enter the code of your second factor'),
  second_factor_wrong: kind(403, '验证码错误，或已使用过', 'The code is wrong, or was used already'),
  login_step_lost: kind(403, '登录已超时，请重新登录', 'The login took too long, start again'),
  two_factor_on: kind(409, '两步验证已开启', 'Two-factor authentication is on already'),
  two_factor_off: kind(409, '尚未开启两步验证', 'Two-factor authentication is off'),
  passkeys_unconfigured: kind(
    403,
    '本站尚不能使用通行密钥，管理员须先将服务器地址设为 https 域名',
    'Passkeys are not available: the admin has to set the server address to an https name first',
  ),
  passkeys_too_many: kind(400, '最多可添加 {max} 个通行密钥', 'At most {max} passkeys can be added'),
  passkey_refused: kind(403, '通行密钥验证失败，请重试', 'The passkey was not accepted, try again'),
  view_name_taken: kind(409, '已有同名视图', 'There is a view of this name already'),
  views_too_many: kind(400, '每个列表最多保存 {max} 个视图', 'At most {max} views of a list can be kept'),
  passkey_known: kind(409, '该通行密钥已添加过', 'This passkey was added already'),
  outside_off: kind(403, '管理员未开启此登录方式', 'The admin has not enabled this way to log in'),
  outside_failed: kind(502, '第三方登录失败，请稍后重试', 'The outside login failed, try again later', { onConsole: undefined }),
  outside_state_invalid: kind(
    403,
    '登录请求无效或已过期，请重新开始',
    'The login request is invalid or has expired, start again',
  ),
  outside_taken: kind(409, '该第三方账户已被绑定', 'This outside account is bound to a user already'),
  outside_unbound: kind(
    403,
    '该第三方账户尚未绑定，请先登录并在个人设置中绑定',
    'This outside account is not bound yet; log in another way and bind it in the personal settings',
  ),
  last_way_in: kind(
    403,
    '这是你最后的登录方式，请先设置密码或绑定邮箱',
    'This is your last way to log in; set a password or bind an e-mail address first',
  ),
  group_unknown: kind(400, '分组 {group} 不存在', 'Group {group} does not exist'),
  group_forbidden: kind(403, '无权使用分组 {group}', 'Group {group} is not available to you'),

  // Mail
  mail_unconfigured: kind(503, '本站尚未配置邮件服务，请联系管理员', 'This site cannot send mail yet; ask the admin', {
    onConsole: undefined,
  }),
  mail_failed: kind(502, '邮件发送失败：{reason}', 'The mail could not be sent: {reason}', { onConsole: undefined }),
  notice_no_address: kind(
    400,
    '请先绑定邮箱，或填写通知邮箱或 Webhook 地址',
    'Bind an e-mail address first, or enter one for notices or a webhook',
  ),
  webhook_failed: kind(502, '通知发送失败：{reason}', 'The notice could not be sent: {reason}', { onConsole: undefined }),
  destination_setting_invalid: kind(400, '{field}无效：{reason}', '{field} is invalid: {reason}'),
  quality_checks_off: kind(
    409,
    '质量检查的每日费用上限为 0，请先在设置中提高',
    'Quality checks are switched off: their daily cost limit is 0. Raise it in the settings',
  ),
  quality_checks_too_many: kind(400, '质量检查最多 {max} 项', 'There are at most {max} quality checks'),
  destinations_too_many: kind(400, '通知目标最多 {max} 个', 'There are at most {max} destinations'),

  // Options
  option_unknown: kind(400, '未知的设置项 {key}', 'Unknown option {key}'),
  option_invalid: kind(400, '设置项 {key} 无效：{reason}', 'Option {key} is invalid: {reason}'),
  option_forbidden: kind(403, '该设置只能由超级管理员修改', 'Only the super admin may change this option'),
  option_needs: kind(400, '请先填写{needs}', 'Fill in {needs} first'),
  groups_in_use: kind(
    409,
    '仍在使用的分组：{groups}。没有倍率的分组，其用户按原价（1 倍）计费，其他用户指定该分组的令牌将被拒绝',
    'Still in use: {groups}. Without a ratio, users of a group pay the plain price (1×), and tokens of others that name it are refused',
  ),
  json_text_invalid: kind(400, '{field} 不是合法的 JSON 字符串', '{field} is not a valid JSON string'),

  // Channels
  channel_name_required: kind(400, '请填写渠道名称和渠道密钥', 'Channel name and key are required'),
  channel_models_required: kind(400, '请至少选择一个模型', 'Choose at least one model'),
  channel_type_unknown: kind(400, '未知的渠道类型 {type}', 'Unknown channel type {type}'),
  channel_url_required: kind(400, '请填写渠道地址', 'The channel address is required'),
  channel_url_invalid: kind(400, '渠道地址无效：{reason}', 'The channel address is invalid: {reason}'),
  channel_mapping_loop: kind(400, '模型重定向存在循环：{model}', 'The model mapping has a loop at {model}'),
  channel_key_reenter: kind(
    400,
    '修改渠道地址的主机后须重新填写密钥',
    'Enter the key again after changing the host of the channel address',
  ),
  channel_key_last: kind(400, '渠道至少需要保留一个密钥', 'A channel needs at least one key'),
  channel_has_keys: kind(
    400,
    '该渠道有多个密钥，请在密钥列表中增删',
    'This channel has several keys; add and remove them in its list of keys',
  ),
  channel_test_failed: kind(502, '测试失败：{reason}', 'Test failed: {reason}', { onConsole: undefined }),
  channel_not_testable: kind(400, '该类型的渠道不支持测试', 'Channels of this type cannot be tested'),
  channel_list_unsupported: kind(400, '该类型的渠道不提供模型列表', 'Channels of this type offer no model list'),
  channel_list_failed: kind(502, '获取模型列表失败：{reason}', 'Fetching the model list failed: {reason}', {
    onConsole: undefined,
  }),
  channel_balance_unsupported: kind(400, '该类型的渠道不支持查询余额', 'Channels of this type do not tell their balance'),
  channel_balance_failed: kind(502, '查询余额失败：{reason}', 'Reading the balance failed: {reason}', { onConsole: undefined }),
  channel_tag_unknown: kind(404, '没有标签为 {tag} 的渠道', 'No channel has the tag {tag}'),
  channel_disabled: kind(403, '渠道已被禁用', 'The channel is disabled'),
  channel_pin_forbidden: kind(403, '普通用户不支持指定渠道', 'Regular users cannot specify a channel'),
  channel_pin_unknown: kind(
    400,
    '密钥末尾指定的渠道 {channel} 不存在',
    'The channel {channel} that the end of the key names does not exist',
  ),
  tag_required: kind(400, '标签不能为空', 'The tag must not be empty'),

  // Tokens
  token_name_required: kind(400, '请输入令牌名称（1 到 30 个字符）', 'A token name of 1 to 30 characters is required'),
  token_not_enableable: kind(
    400,
    '令牌已过期或已耗尽，请先修改过期时间或额度',
    'The token has expired or is exhausted; change its expiry or quota first',
  ),
  token_missing: kind(401, '未提供令牌', 'No API key was provided', { type: 'invalid_request_error', final: true }),
  token_invalid: kind(401, '无效的令牌', 'The API key is invalid', { type: 'invalid_request_error', final: true }),
  token_disabled: kind(401, '该令牌已被禁用', 'This API key is disabled', { type: 'invalid_request_error', final: true }),
  token_expired: kind(401, '该令牌已过期', 'This API key has expired', { type: 'invalid_request_error', final: true }),
  token_exhausted: kind(401, '该令牌额度已用尽', 'The quota of this API key is exhausted', {
    type: 'insufficient_quota',
    final: true,
  }),
  token_address_forbidden: kind(403, '您的 IP 不在令牌允许访问的列表中', 'Your address is not on the list of this API key', {
    final: true,
  }),
  organisation_model_forbidden: kind(403, '{place}不允许使用模型 {model}', 'The model {model} is not allowed by {place}', {
    final: true,
  }),
  organisation_group_forbidden: kind(403, '{place}不允许使用分组 {group}', 'The group {group} is not allowed by {place}', {
    final: true,
  }),
  organisation_tokens_max: kind(
    403,
    '{place}规定每名成员最多 {max} 个令牌',
    'A member can have at most {max} API keys, by {place}',
  ),
  organisation_days_max: kind(
    403,
    '{place}规定令牌的有效期最长 {max} 天',
    'An API key can be valid for at most {max} days, by {place}',
  ),
  organisation_role: kind(403, '你在该组织中的角色不允许此操作', 'Your role in this organisation does not allow this'),
  organisation_suspended: kind(
    403,
    '该组织已被暂停，请联系站点管理员',
    'This organisation is suspended; ask the admin of the site',
  ),
  organisation_name_taken: kind(400, '该组织名称已被使用', 'An organisation of this name exists already'),
  organisation_name_characters: kind(400, '名称不能包含 @ 或不可见字符', 'The name must not contain @ or invisible characters'),
  organisation_owner_needed: kind(
    403,
    '组织至少需要一名所有者，请先转让组织',
    'An organisation needs an owner: make somebody else an owner first',
  ),
  organisation_member_already: kind(400, '你已是该组织的成员', 'You are a member of this organisation already'),
  organisation_by_directory: kind(
    403,
    '该设置由组织的目录分组给予，请在目录中修改',
    'A group of the directory gives this; change it in the directory',
  ),
  sign_on_unknown: kind(
    404,
    '没有找到该组织的登录方式，请检查组织名称或邮箱地址',
    'No organisation with a login of its own has this name or mail domain; check what you entered',
  ),
  sign_on_incomplete: kind(
    400,
    '请填写颁发者、客户端 ID 和密钥；站点管理员还须设置服务器地址',
    'The login needs issuer, client id and secret, and the site its server address, before it can be enabled',
  ),
  sign_on_provider: kind(
    400,
    '{issuer} 没有返回该颁发者的 OpenID 配置；须为可公开访问的 https 地址',
    'There is no OpenID configuration of this issuer at {issuer}; it must be a public https address',
  ),
  sign_on_person_unknown: kind(
    403,
    '你的账户尚未加入该组织，请联系组织管理员',
    'You have no account in this organisation yet; ask its admin',
  ),
  sign_on_inactive: kind(
    403,
    '你在该组织中的成员资格已停用，请联系组织管理员',
    'Your membership of this organisation has ended; ask its admin',
  ),
  sign_on_admin: kind(
    403,
    '站点管理员不能通过组织登录，请使用个人登录方式',
    'Admins of the site do not sign in by an organisation; use your personal login',
  ),
  personal_login_off: kind(
    403,
    '你的账户须通过组织“{organisation}”登录',
    'Your account signs in by the organisation “{organisation}”',
  ),
  domain_taken: kind(409, '域名 {domain} 已属于另一组织', 'The domain {domain} belongs to another organisation'),
  domain_invalid: kind(400, '{domain} 不是有效的域名', '{domain} is not a valid domain'),
  directory_full: kind(400, '目录中最多有 {max} 人', 'A directory has at most {max} people'),
  scim_token_invalid: kind(
    401,
    'SCIM 令牌无效，请在组织设置中重新生成',
    'The SCIM token is invalid; create a new one in the settings of the organisation',
  ),
  scim_user_taken: kind(409, '该组织中已有此 userName 或该账户', 'The organisation has a user with this userName already'),
  scim_group_taken: kind(409, '该组织中已有同名分组', 'The organisation has a group with this displayName already'),
  scim_only_owner: kind(
    409,
    '此人是组织唯一的所有者，请先指定另一名所有者',
    'This user is the only owner of the organisation; make somebody else an owner first',
  ),
  scim_filter_invalid: kind(
    400,
    '不支持的过滤条件：{reason}',
    'Unsupported filter: {reason}. Supported are comparisons by eq, joined by and',
  ),
  scim_path_invalid: kind(400, '不支持的路径：{path}', 'Unsupported path: {path}'),
  scim_value_invalid: kind(400, '{path} 的值无效：{reason}', 'Invalid value of {path}: {reason}'),
  payer_refused: kind(
    400,
    '该接口只能以个人身份调用，请去掉请求头 x-organisation-id',
    'This call is about your own account; send it without the header x-organisation-id',
  ),
  invitation_invalid: kind(400, '邀请无效、已过期或已被使用', 'The invitation is invalid, expired or used already'),
  invitations_too_many: kind(400, '未答复的邀请最多 {max} 个', 'At most {max} invitations can be open'),
  teams_too_deep: kind(400, '团队最多嵌套 {max} 级', 'Teams can be nested to {max} levels'),
  teams_too_many: kind(400, '一个组织最多 {max} 个团队', 'An organisation can have at most {max} teams'),
  team_within_itself: kind(400, '团队不能移动到自己之下', 'A team cannot be moved below itself'),
  token_model_forbidden: kind(403, '该令牌无权访问模型 {model}', 'This API key may not use the model {model}', { final: true }),
  address_list_invalid: kind(400, '无效的 IP 或 CIDR：{entry}', 'Not an address or CIDR: {entry}'),

  // Redemption codes and the wallet
  redemption_invalid: kind(400, '无效的兑换码', 'The redemption code is invalid'),
  redemption_used: kind(400, '该兑换码已被使用', 'The redemption code has been used already'),
  redemption_expired: kind(400, '该兑换码已过期', 'The redemption code has expired'),
  redemption_undone: kind(
    503,
    '未充值：保存时与数据库的连接中断。兑换码未被使用，请重试',
    'Nothing was credited: the connection to the database was lost. The code is still good; try again',
  ),
  redemption_unclear: kind(
    503,
    '与数据库的连接中断，尚不知道是否已充值。请稍后在“钱包 › 账单”中查看；再次兑换是安全的，同一兑换码最多充值一次',
    'The connection to the database was lost, and it is not known yet whether the code was credited. Look at Wallet › Statement in a moment; redeeming again is safe, a code is credited at most once',
  ),
  redemption_not_editable: kind(400, '只能编辑未使用的兑换码', 'Only unused codes can be edited'),
  quota_unchanged: kind(
    503,
    '额度未变动：保存时与数据库的连接中断，请重试',
    'The quota was not changed: the connection to the database was lost. Try again',
  ),
  quota_change_unclear: kind(
    503,
    '与数据库的连接中断，尚不知道额度是否已变动。重试之前，请先查看账单或日志',
    'The connection to the database was lost, and it is not known yet whether the quota was changed. Look at the statement or the log before you try again',
  ),
  transfer_below_minimum: kind(400, '划转额度最低为 {least}', 'The transfer amount is at least {least}'),
  top_up_disabled: kind(400, '管理员未开启在线充值', 'The admin has not enabled online top-up'),
  top_up_below_minimum: kind(400, '充值数量须为整数且不小于 {least}', 'The amount must be a whole number and at least {least}'),
  top_up_too_small: kind(400, '充值金额过低', 'The amount to pay is too small'),
  payment_method_unknown: kind(400, '不支持的支付方式 {method}', 'Payment method {method} is not supported'),
  payment_provider_failed: kind(
    502,
    '支付服务商未能受理，请稍后再试',
    'The payment provider did not take the order, try again later',
    {
      onConsole: undefined,
    },
  ),
  payment_unconfirmed: kind(
    400,
    '支付服务商未确认该订单已支付',
    'The payment provider does not confirm that this order was paid',
  ),
  payment_signature_invalid: kind(400, '签名无效', 'The signature is invalid', { onConsole: 'status' }),
  top_up_credited: kind(400, '该订单已到账', 'This order has been credited already'),
  top_up_not_refunded: kind(
    400,
    '该订单没有退款或拒付，或已收回额度',
    'This order was neither refunded nor disputed, or its quota was taken back already',
  ),
  transfer_exceeds_earned: kind(400, '邀请额度不足', 'You have not earned that much by invitations'),

  // Logs
  log_time_required: kind(400, '请选择日志记录时间', 'Please choose log time'),
  log_searches_busy: kind(
    429,
    '同时进行的日志查询过多，请在 {seconds} 秒后再试',
    'Too many log searches are running and waiting; try again in {seconds} {seconds|second|seconds}',
  ),
  downloads_busy: kind(
    429,
    '同时进行的下载过多（每位用户最多 {own} 个），请在其中一个完成后再试',
    'Too many downloads are running (at most {own} for each user); try again when one of them has ended',
  ),
  log_search_timeout: kind(
    400,
    '查询超过 {seconds} 秒，已停止。请缩小时间范围，或增加筛选条件',
    'The search was stopped after {seconds} {seconds|second|seconds}. Choose a shorter time range or more filters',
  ),
  log_search_cancelled: kind(
    409,
    '查询已取消：已有相同条件的新查询',
    'The search was cancelled: a newer one with the same filter has taken its place',
  ),
  log_purge_running: kind(409, '日志清理正在进行中', 'The log is being cleaned already'),
  prices_for_members: kind(403, '模型价格仅对登录用户开放', 'Prices are for members'),
  status_page_private: kind(404, '状态页未公开', 'The status page is not public', { onConsole: 'status' }),
  budget_of_admin: kind(403, '该预算由管理员设置，不能更改', 'An admin has set this budget; it cannot be changed here'),
  budget_period_invalid: kind(
    400,
    '滑动窗口须有秒数，其他周期不能有',
    'A sliding window needs its length in seconds, and no other period has one',
  ),
  budget_subject_unknown: kind(400, '预算的对象不存在', 'The user, group, token or channel of the budget does not exist'),
  budgets_too_many: kind(400, '一个令牌最多 {max} 个预算', 'A token can have at most {max} budgets'),
  data_span_too_long: kind(400, '时间跨度不能超过 {days} 天', 'The span must not be longer than {days} days'),

  // Relay and money
  quota_insufficient: kind(403, '用户额度不足，剩余 {have}，需要 {need}', 'Insufficient quota: {have} left, {need} needed', {
    type: 'insufficient_quota',
    final: true,
  }),
  token_quota_insufficient: kind(
    403,
    '令牌额度不足，剩余 {have}，需要 {need}',
    'Insufficient quota of this API key: {have} left, {need} needed',
    { type: 'insufficient_quota', final: true },
  ),
  budget_exceeded: kind(
    429,
    '{whose}的预算（{budget}）已用完：{state}。{renews}',
    'The budget of {whose} ({budget}) is used up (out of budget): {state}. {renews}',
    { type: 'budget_exceeded', final: true },
  ),
  output_unaffordable: kind(
    403,
    '剩余额度约够输出 {tokens} tokens，本次请求至少需要 {least}；请充值、缩短输入，或设置更小的输出上限',
    'Your quota affords about {tokens} output tokens for this request, and at least {least} are needed; top up, shorten the prompt, or set a smaller output limit',
    { type: 'insufficient_quota', final: true },
  ),
  price_missing: kind(400, '模型 {model} 的价格未设置，请联系管理员', 'Model {model} has no price; ask the admin to set one', {
    final: true,
  }),
  tool_unpriced: kind(
    400,
    '工具 {tool} 没有价格，本站不提供；管理员可在设置 {option} 中为其定价',
    'The tool {tool} has no price here and is not offered; an admin can price it in the setting {option}',
  ),
  amount_out_of_range: kind(400, '请求的数量超出范围：{field}', 'The requested amount is out of range: {field}'),
  model_required: kind(400, '缺少 model 字段', 'The field model is required'),
  model_beside_prompt: kind(
    400,
    '使用 prompt 时也须填写 model：存储的提示词中的模型只有其供应商知道，本站须据此选择渠道和计费',
    'Name the model in the field model beside prompt: only the vendor knows the model of a stored prompt, and this server chooses the channel and the price by it',
  ),
  model_not_found: kind(404, '模型 {model} 不存在', 'The model {model} does not exist', { final: true }),
  no_channel: kind(503, '分组 {group} 下对于模型 {model} 无可用渠道', 'No available channel for model {model} in group {group}', {
    type: 'server_error',
  }),
  upstream_saturated: kind(
    429,
    '当前分组上游负载已饱和（达到速率限制），请稍后再试',
    'The upstream of this group is saturated (rate limit reached), try again later',
    { type: 'rate_limit_exceeded' },
  ),
  upstream_failed: kind(502, '上游服务出错：{reason}', 'The upstream failed: {reason}', { type: 'server_error' }),
  upstream_answer_too_large: kind(
    502,
    '上游的回答超过本站可接收的大小，已中止。重复同样的请求不会成功，请要求更少的输出',
    'The answer of the upstream is larger than this site accepts. The same request will fail again; ask for less output',
    { type: 'invalid_request_error', final: true },
  ),
  upstream_unreachable: kind(
    502,
    '无法连接上游服务，请重试请求',
    'The upstream could not be reached (connection error), please retry your request',
    { type: 'server_error' },
  ),
  upstream_unavailable: kind(
    503,
    '上游服务过载或暂时不可用，请稍后再试',
    'The upstream is overloaded or down (service unavailable), try again later',
    { type: 'server_error' },
  ),
  upstream_account_refused: kind(
    503,
    '上游拒绝了该模型所用的账户，请联系管理员',
    'The upstream refused the account behind this model; ask the admin',
    { type: 'permission_error', final: true },
  ),
  upstream_quota_exhausted: kind(
    503,
    '该模型的上游账户额度已用尽，请联系管理员',
    'The upstream account of this model has no quota left (quota exceeded); ask the admin',
    { type: 'insufficient_quota', final: true },
  ),
  upstream_timeout: kind(
    504,
    '上游服务响应超时，请重试请求',
    'The upstream did not answer in time (timeout), please retry your request',
    { type: 'server_error' },
  ),
  loop_detected: kind(
    508,
    '该请求回到了它经过的站点：某个渠道的地址指向本站或指回本站的站点，请联系管理员修改渠道地址',
    'The request came back to a site that it had passed: the address of a channel leads to this site, or to one that leads back here. Ask the admin to correct the address',
    { type: 'server_error', final: true },
  ),
  dialect_unavailable: kind(
    400,
    '模型 {model} 的渠道都不提供 {endpoint} 接口，请换用其他接口或模型',
    'No channel for model {model} offers {endpoint}; use another endpoint or another model',
  ),
  untranslatable: kind(
    400,
    '字段 {field} 无法转换到该模型的渠道所用的协议：{reason}',
    'Field {field} cannot be carried to the protocol of this model: {reason}',
  ),
  response_unknown: kind(404, '回复 {id} 不存在', 'Response {id} was not found'),
  response_not_kept: kind(
    404,
    '回复 {id} 不存在，本站不保存回复',
    'Response {id} was not found: this server is set to keep no responses',
  ),
  response_synchronous: kind(
    400,
    '该回复不在后台运行，无法取消',
    'Only a response that was made in the background can be cancelled',
  ),
  response_running: kind(409, '回复仍在生成，请先取消', 'The response is still being made; cancel it first'),
  previous_response_unknown: kind(404, '上一条回复 {id} 不存在', 'Previous response {id} was not found'),
  item_unknown: kind(404, '条目 {id} 不存在：{reason}', 'Item {id} was not found: {reason}'),
  thread_unknown: kind(
    404,
    '消息 {id} 所在的对话不存在，请以 thread: {"type": "create"} 发送完整对话',
    'No conversation was found for message {id}; send all of it with thread: {"type": "create"}',
  ),
  file_unknown: kind(404, '文件 {id} 不存在', 'File {id} was not found'),
  file_channel_gone: kind(
    404,
    '保存文件 {id} 的渠道已不可用，请重新上传',
    'The channel that has file {id} is not available any more; upload the file again',
  ),
  file_elsewhere: kind(
    400,
    '保存文件 {id} 的渠道不提供模型 {model}，请为该模型重新上传（请求头 x-sluice-model）',
    'The channel that has file {id} does not serve model {model}; upload the file again for this model (header x-sluice-model)',
  ),
  files_apart: kind(
    400,
    '文件 {first} 与 {second} 保存在不同的渠道，不能用于同一请求，请重新上传其中之一',
    'Files {first} and {second} are at different channels, and one request cannot use both; upload one of them again',
  ),
  files_apart_from_history: kind(
    400,
    '请求中的文件与所继续的会话保存在不同的渠道，请发送完整会话',
    'The files of the request and the conversation that it continues are at different channels; send the whole conversation',
  ),
  files_too_many: kind(
    400,
    '文件数量已达上限 {limit} 个，请先删除部分文件',
    'You have {limit} files, the most that this server keeps; delete some first',
  ),
  files_too_large: kind(
    400,
    '文件总大小上限为 {limit} MB，已占用 {held} MB，请先删除部分文件',
    'Your files may have {limit} MB together, and have {held} MB; delete some first',
  ),
  file_too_large: kind(413, '文件过大，上限为 {limit} 字节', 'The file is too large; the limit is {limit} bytes'),
  files_no_channel: kind(503, '分组 {group} 中没有可保存文件的渠道', 'No channel of group {group} stores files'),
  batch_unknown: kind(404, '批处理 {id} 不存在', 'Batch {id} was not found'),
  batch_channel_gone: kind(404, '批处理 {id} 的渠道已不可用', 'The channel of batch {id} is not available any more'),
  batch_without_results: kind(404, '批处理 {id} 没有结果', 'Batch {id} has no results'),
  batch_not_offered: kind(
    400,
    '保存文件 {id} 的渠道不支持批处理，请为支持批处理的模型重新上传（请求头 x-sluice-model）',
    'The channel that has file {id} offers no batches; upload the file again for a model with batches (header x-sluice-model)',
  ),
  batch_no_channel: kind(503, '没有渠道以批处理方式提供模型 {model}', 'No channel offers batches of model {model}'),
  batch_models_apart: kind(
    400,
    '批处理中的模型 {model} 不在同一渠道上，请分成多个批处理',
    'Model {model} is not at the channel of the other requests of the batch; make a batch of its own for it',
  ),
  batch_input_unreadable: kind(
    502,
    '上游未能提供输入文件 {id}，请重新上传',
    'The vendor does not give input file {id}; upload it again',
    { type: 'upstream_error' },
  ),
  batch_invalid: kind(
    400,
    '批处理有 {count} 个请求被拒绝，第一个是第 {line} 个：{reason}',
    '{count} requests of the batch are refused; the first is number {line}: {reason}',
  ),
  batch_unaffordable: kind(
    403,
    '批处理最多需要 {need}，剩余 {have}；从第 {line} 个请求起额度不足',
    'The batch may need {need}, and {have} are left: the quota ends at request {line}. Top up, or make a smaller batch',
    { type: 'insufficient_quota', final: true },
  ),
  batch_line_invalid: kind(400, '该行无效：{reason}', 'The line is invalid: {reason}'),
  batch_too_large: kind(
    400,
    '一个批处理最多 {limit} 个请求，请分成多个批处理',
    'A batch has at most {limit} requests; make several of it',
  ),
  batch_starting: kind(409, '批处理 {id} 正在提交，请稍后再试', 'Batch {id} is just being placed; try again in a moment'),
  batch_running: kind(400, '批处理 {id} 尚未结束', 'Batch {id} has not ended yet'),
  upload_form_invalid: kind(400, '上传内容无效：{reason}', 'The upload is invalid: {reason}'),
  task_unknown: kind(404, '任务 {id} 不存在', 'Task {id} was not found'),
  task_not_done: kind(400, '任务 {id} 尚未成功，不能继续操作', 'Task {id} has not succeeded yet, so nothing can be done with it'),
  task_action_invalid: kind(400, '无效的操作：{action}', 'Unknown action: {action}'),
  task_prompt_required: kind(400, '提示词不能为空', 'The prompt must not be empty'),
  task_notice_refused: kind(403, '回调无效', 'The notification is not accepted'),
  task_not_submitted: kind(503, '任务提交未能完成，费用将退还', 'The task could not be submitted; what it cost is given back', {
    type: 'server_error',
  }),
  video_running: kind(409, '视频 {id} 尚未完成', 'Video {id} is not complete yet'),
  video_gone: kind(410, '视频 {id} 的文件已不可用', 'The file of video {id} is not available any more'),
  sensitive_words: kind(400, '内容包含敏感词', 'The content contains sensitive words'),
  rate_limit_requests: kind(
    429,
    '{whose}已达到总请求数限制：{window}内最多请求 {count} 次，包括失败次数，请检查您的请求是否正确',
    '{whose} reached the limit of all requests: at most {count} within {window}, failed ones included; check that they are correct',
    { type: 'rate_limit_exceeded' },
  ),
  rate_limit_successes: kind(
    429,
    '{whose}已达到请求数限制：{window}内最多成功请求 {count} 次',
    '{whose} reached the limit of successful requests: at most {count} within {window}',
    { type: 'rate_limit_exceeded' },
  ),
  rate_limit_tokens: kind(
    429,
    '{whose}已达到 Token 数限制：{window}内最多 {count} 个',
    '{whose} reached the limit of tokens: at most {count} within {window}',
    { type: 'rate_limit_exceeded' },
  ),
  rate_limit_prompt: kind(
    429,
    '提示过长：{whose}在{window}内最多使用 {count} 个 Token',
    'The prompt is too long: {whose} at most {count} {count|token|tokens} within {window}',
    { type: 'rate_limit_exceeded', final: true },
  ),
  rate_limit_concurrency: kind(
    429,
    '{whose}同时进行的请求过多，最多 {count} 个',
    '{whose} too many requests running at once; at most {count} may',
    { type: 'rate_limit_exceeded' },
  ),
  playground_needs_session: kind(400, '操练场不支持访问令牌', 'The playground cannot be used with an access token'),
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof errors
