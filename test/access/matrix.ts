import type { ErrorCode } from '../../src/contract/errors.ts'

/**
 * The reviewed matrix of access: the expected answer for every kind of caller under every policy, and the policy of every address of
 * the server. A caller sends one credential: the cookie of a session, an access token of the console, or a key of the relay. Sessions
 * were authenticated eight minutes ago, "old" ones eleven.
 */
const cells = `
                        everybody  visit  signed-in  user    self   user!   self!  session  admin   admin!  root    relay    playground  link  metrics  directory
  nobody                in         in     login      login   login  login   login  login    login   login   login   no-key   login       link  hidden   no-scim
  user                  in         in     in         in      in     in      in     in       role    role    role    no-key   in          link  hidden   no-scim
  user, old             in         proof  in         in      in     proof   proof  in       role    role    role    no-key   in          link  hidden   no-scim
  user, token           in         proof  in         in      in     proof   proof  proof    role    role    role    bad-key  page        link  hidden   no-scim
  admin                 in         in     in         in      in     in      in     in       in      in      role    no-key   in          link  hidden   no-scim
  admin, old            in         proof  in         in      in     proof   proof  in       in      proof   role    no-key   in          link  hidden   no-scim
  admin, token          in         proof  in         in      in     proof   proof  proof    in      proof   role    bad-key  page        link  in       no-scim
  root                  in         in     in         in      in     in      in     in       in      in      in      no-key   in          link  hidden   no-scim
  root, old             in         proof  in         in      in     proof   proof  in       in      proof   in      no-key   in          link  hidden   no-scim
  root, token           in         proof  in         in      in     proof   proof  proof    in      proof   in      bad-key  page        link  in       no-scim
  root, known password  in         change  in        change  in     change  in     change   change  change  change  no-key   change      link  hidden   no-scim
  banned root           in         in     login      login   login  login   login  login    login   login   login   no-key   login       link  hidden   no-scim
  banned root, token    in         in     login      token   token  token   token  token    token   token   token   bad-key  page        link  hidden   no-scim
  deleted root          in         in     login      login   login  login   login  login    login   login   login   no-key   login       link  hidden   no-scim
  deleted root, token   in         in     login      token   token  token   token  token    token   token   token   bad-key  page        link  hidden   no-scim
  key                   in         in     login      token   token  token   token  token    token   token   token   in       page        link  hidden   no-scim
  key of root           in         in     login      token   token  token   token  token    token   token   token   in       page        link  hidden   no-scim
  exhausted key         in         in     login      token   token  token   token  token    token   token   token   spent    page        link  hidden   no-scim
  expired key           in         in     login      token   token  token   token  token    token   token   token   expired  page        link  hidden   no-scim
  disabled key          in         in     login      token   token  token   token  token    token   token   token   off      page        link  hidden   no-scim
  deleted key           in         in     login      token   token  token   token  token    token   token   token   bad-key  page        link  hidden   no-scim
  unknown key           in         in     login      token   token  token   token  token    token   token   token   bad-key  page        link  hidden   no-scim
  key of banned root    in         in     login      token   token  token   token  token    token   token   token   banned   page        link  hidden   no-scim
  key of deleted root   in         in     login      token   token  token   token  token    token   token   token   bad-key  page        link  hidden   no-scim
`

/** The refusals of the cells; an admitted caller gets none of these, but the result of the call. */
export const refusals = {
  login: ['not_signed_in'],
  token: ['access_token_invalid'],
  role: ['permission_denied'],
  proof: ['fresh_login_required'],
  change: ['must_change_password'],
  'no-key': ['token_missing'],
  'bad-key': ['token_invalid'],
  spent: ['token_exhausted'],
  expired: ['token_expired'],
  off: ['token_disabled'],
  banned: ['user_banned'],
  page: ['playground_needs_session'],
  // Only the address that was issued for a drawing is accepted.
  link: ['task_unknown', 'task_notice_refused'],
  hidden: ['route_unknown'],
  'no-scim': ['scim_token_invalid'],
} as const satisfies Readonly<Record<string, readonly ErrorCode[]>>

/**
 * Policies with `!` require an authentication younger than ten minutes; `session` refuses access tokens, and `self` admits users
 * who have to change their password first: all calls of these tests come from other machines than the server.
 * A \`visit\` to another site may end in a new account, or in a binding to the account of a signed-in user. Addresses without a
 * result (not offered, or only as a socket) are open to everybody: they return the same to all. `directory` is for the token
 * of a directory alone, which none of these callers has.
 */
const addresses = {
  everybody: `
    /                                           FILE
    /healthz                                    GET
    /health                                     GET
    /livez                                      GET
    /ping                                       GET
    /readyz                                     GET
    /api/about                                  GET
    /api/home_page_content                      GET
    /api/notice                                 GET
    /api/oauth/github                           GET POST
    /api/oauth/linuxdo                          GET POST
    /api/oauth/oidc                             GET POST
    /api/oauth/state                            POST
    /api/oauth/telegram/login                   GET POST
    /api/oauth/wechat                           GET POST
    /api/pricing                                GET
    /api/reset_password                         GET POST
    /api/status                                 GET
    /api/status_page/                           GET
    /status/badge.svg                           GET
    /status/incidents.rss                       GET
    /api/sso/                                   GET POST
    /api/sso/callback                           POST
    /api/stripe/webhook                         POST
    /api/user/epay/notify                       GET POST
    /api/user/groups                            GET
    /api/user/login                             POST
    /api/user/login/passkey                     POST
    /api/user/login/passkey/options             POST
    /api/user/login/second                      POST
    /api/user/logout                            GET POST
    /api/user/register                          POST
    /api/user/reset                             POST
    /api/verification                           GET POST
    /v1/agents/{id}                             GET
    /v1/assistants/{id}                         GET
    /v1/audio/voice_consents/{id}               GET
    /v1/audio/voices/{id}                       GET
    /v1/auth_tokens/{id}                        GET
    /v1/cachedContents/{id}                     GET
    /v1/chatkit/{id}                            GET
    /v1/complete/{id}                           GET
    /v1/compliance/{id}                         GET
    /v1/containers/{id}                         GET
    /v1/content_provenance_checks/{id}          GET
    /v1/conversations/{id}                      GET
    /v1/credentials/{id}                        GET
    /v1/deployment_runs/{id}                    GET
    /v1/deployments/{id}                        GET
    /v1/dreams/{id}                             GET
    /v1/edits/{id}                              GET
    /v1/environments/{id}                       GET
    /v1/evals/{id}                              GET
    /v1/experimental/{id}                       GET
    /v1/fileSearchStores/{id}                   GET
    /v1/fine-tunes/{id}                         GET
    /v1/fine_tuning/{id}                        GET
    /v1/live/{id}                               GET
    /v1/memory_stores/{id}                      GET
    /v1/operations/{id}                         GET
    /v1/organization/{id}                       GET
    /v1/organizations/{id}                      GET
    /v1/projects/{id}                           GET
    /v1/realtime                                GET
    /v1/realtime/{id}                           GET
    /v1/safety/{id}                             GET
    /v1/sessions/{id}                           GET
    /v1/skills/{id}                             GET
    /v1/threads/{id}                            GET
    /v1/triggers/{id}                           GET
    /v1/tuningJobs/{id}                         GET
    /v1/tunnels/{id}                            GET
    /v1/user_profiles/{id}                      GET
    /v1/vaults/{id}                             GET
    /v1/vector_stores/{id}                      GET
    /v1/voices/{id}                             GET
    /v1/webhook_endpoints/{id}                  GET
    /v1/webhook_event_types/{id}                GET
    /v1/webhooks/{id}                           GET
  `,
  visit: `
    /api/oauth/state                            GET
  `,
  'signed-in': `
    /api/openapi.json                           GET
  `,
  user: `
    /api/data/self                              GET
    /api/data/self/sums                         GET
    /api/log/running/:request_id/stop           POST
    /api/log/self                               GET
    /api/log/self/running                       GET
    /api/log/self/export.csv                    GET
    /api/log/self/export.jsonl                  GET
    /api/log/self/histogram                     GET
    /api/log/self/search                        GET
    /api/log/self/stat                          GET
    /api/mj/self                                GET
    /api/mj/self/export.csv                     GET
    /api/models                                 GET
    /api/invitation/                            POST
    /api/invitation/answer                      POST
    /api/organisation/                          GET
    /api/organisation/:id                       GET PUT
    /api/organisation/:id/allowances            GET PUT
    /api/organisation/:id/audit                 GET
    /api/organisation/:id/budgets               GET POST
    /api/organisation/:id/budgets/:budget       PUT DELETE
    /api/organisation/:id/budgets/:budget/override POST
    /api/organisation/:id/budgets/:budget/raise POST
    /api/organisation/:id/raises                GET
    /api/organisation/:id/raises/:raise         POST
    /api/organisation/:id/invitations           GET POST PUT
    /api/organisation/:id/invitations/:invitation DELETE
    /api/organisation/:id/members               GET PUT
    /api/organisation/:id/members/:member       DELETE
    /api/organisation/:id/teams                 GET POST PUT
    /api/organisation/:id/teams/:team           DELETE
    /api/organisation/:id/teams/members         PUT
    /api/organisation/:id/teams/:team/members/:member DELETE
    /api/organisation/:id/scim                  POST DELETE
    /api/organisation/:id/sign-on               GET PUT
    /api/organisation/:id/sign-on/domains       PUT
    /api/organisation/:id/sign-on/rules         PUT
    /api/organisation/:id/transfer              POST
    /api/organisation/:id/usage                 GET
    /api/organisation/:id/usage.csv             GET
    /api/organisation/:id/webhooks              GET POST
    /api/organisation/:id/webhooks/:webhook     PUT DELETE
    /api/organisation/:id/webhooks/:webhook/test POST
    /api/organisation/:id/transfer/accept       POST
    /api/task/self                              GET
    /api/task/self/export.csv                   GET
    /api/batch/self                             GET
    /api/batch/self/lines                       GET
    /api/batch/self/lines/export.csv            GET
    /api/batch/self/cancel                      POST
    /api/file/self                              GET
    /api/file/self/:file_id                     DELETE
    /api/file/self/usage                        GET
    /api/file/self/export.csv                   GET
    /api/video/self                             GET
    /api/video/self/export.csv                  GET
    /api/recording/self                         GET
    /api/recording/self/:request_id             GET
    /api/token/                                 GET POST PUT
    /api/token/:id                              GET DELETE
    /api/token/:id/key                          POST
    /api/token/:id/move                         POST
    /api/token/:id/recording                    PUT
    /api/token/batch                            POST
    /api/token/export.csv                       GET
    /api/token/search                           GET
    /api/user/aff                               GET
    /api/user/aff_transfer                      POST
    /api/user/amount                            POST
    /api/user/binding                           GET
    /api/user/model_ends                        GET
    /api/user/models                            GET
    /api/user/passkey/:id                       PUT
    /api/user/pay                               POST
    /api/user/security                          GET
    /api/user/self/groups                       GET
    /api/user/self/ledger                       GET
    /api/user/self/ledger.csv                   GET
    /api/user/self/statement                    GET
    /api/user/self/statement.csv                GET
    /api/user/self/topups                       GET
    /api/user/self/topups.csv                   GET
    /api/budget/                                GET POST
    /api/budget/:id                             PUT DELETE
    /api/user/self/views                        GET POST
    /api/user/self/views/:id                    PUT DELETE
    /api/user/sessions                          GET DELETE
    /api/user/sessions/:id                      DELETE
    /api/user/setting                           PUT
    /api/user/setting/test                      POST
    /api/user/token                             GET POST DELETE
    /api/user/topup                             POST
    /api/user/topup/info                        GET
    /api/user/two_factor/confirm                POST
  `,
  self: `
    /api/user/self                              GET
  `,
  'user!': `
    /api/oauth/email/bind                       GET POST
    /api/oauth/telegram/bind                    GET POST
    /api/oauth/wechat/bind                      GET POST
    /api/user/binding                           POST
    /api/user/binding/:provider                 DELETE
    /api/user/passkey/:id                       DELETE
    /api/user/passkey/options                   POST
    /api/user/self                              DELETE
    /api/user/two_factor                        POST DELETE
    /api/user/two_factor/backup_codes           POST
  `,
  'self!': `
    /api/user/self                              PUT
  `,
  session: `
    /api/user/passkey                           POST
    /api/user/verify                            POST
    /api/user/verify/passkey                    POST
    /api/user/verify/passkey/options            POST
  `,
  admin: `
    /api/alert/delivery/                        GET
    /api/alert/delivery/:id/send                POST
    /api/alert/destination/                     GET POST
    /api/alert/destination/:id                  PUT DELETE
    /api/alert/destination/:id/test             POST
    /api/alert/history/                         GET
    /api/alert/rule/                            GET
    /api/alert/rule/:rule                       PUT
    /api/alert/rule/:rule/preview               POST
    /api/alert/rule/:rule/test                  POST
    /api/alert/silence/                         GET POST
    /api/alert/silence/:id                      DELETE
    /api/budget/:id/override                    POST
    /api/budget/:id/reset                       POST
    /api/channel/                               GET POST PUT
    /api/channel/:id                            GET DELETE
    /api/channel/:id/copy                       POST
    /api/channel/:id/keys                       GET POST
    /api/channel/:id/keys/:key                  DELETE
    /api/channel/:id/keys/health                GET
    /api/channel/:id/keys/status                POST
    /api/channel/:id/model_changes/apply        POST
    /api/channel/:id/model_changes/dismiss      POST
    /api/channel/batch                          POST
    /api/channel/batch/status                   POST
    /api/channel/batch/tag                      POST
    /api/channel/disabled                       DELETE
    /api/channel/export.csv                     GET
    /api/channel/fetch_models                   POST
    /api/channel/fetch_models/:id               GET
    /api/channel/fix                            POST
    /api/channel/health                         GET
    /api/channel/jobs                           GET
    /api/channel/model_changes                  GET POST
    /api/channel/models                         GET
    /api/channel/models_enabled                 GET
    /api/channel/search                         GET
    /api/channel/tag                            PUT
    /api/channel/tag/disabled                   POST
    /api/channel/tag/enabled                    POST
    /api/channel/test                           GET POST
    /api/channel/test/:id                       GET POST
    /api/channel/types                          GET
    /api/channel/update_balance                 GET POST
    /api/channel/update_balance/:id             GET POST
    /api/data/                                  GET
    /api/data/sums                              GET
    /api/group/                                 GET
    /api/incident/                              GET POST
    /api/incident/:id                           PUT DELETE
    /api/incident/:id/update                    POST
    /api/job/                                   GET
    /api/job/:name/run                          POST
    /api/log/                                   GET DELETE
    /api/log/export.csv                         GET
    /api/log/export.jsonl                       GET
    /api/log/purge                              GET POST DELETE
    /api/log/running                            GET
    /api/log/histogram                          GET
    /api/log/search                             GET
    /api/log/stat                               GET
    /api/mj/                                    GET
    /api/mj/export.csv                          GET
    /api/option/                                GET PUT
    /api/organisation/                          POST
    /api/organisation/:id                       DELETE
    /api/organisation/:id/sign-on/domains       POST
    /api/option/rest_model_ratio                POST
    /api/option/secrets                         GET
    /api/overview/                              GET
    /api/pricing/models                         GET
    /api/pricing/proposals                      GET POST
    /api/quality_check/                         GET POST
    /api/quality_check/:id                      GET PUT DELETE
    /api/quality_check/:id/enabled              PUT
    /api/quality_check/:id/results              GET
    /api/quality_check/:id/run                  POST
    /api/quality_check/result/:id               GET
    /api/recording/rules                        GET
    /api/redemption/                            GET POST PUT
    /api/redemption/:id                         GET DELETE
    /api/redemption/batch                       POST
    /api/redemption/export.csv                  GET
    /api/redemption/invalid                     DELETE
    /api/redemption/search                      GET
    /api/status/test                            GET
    /api/system/                                GET
    /api/system/first_run                       GET
    /api/system/site_cost                       GET
    /api/system/storage                         GET
    /api/system/update                          GET
    /api/task/                                  GET
    /api/task/export.csv                        GET
    /api/batch/                                 GET
    /api/batch/lines                            GET
    /api/batch/lines/export.csv                 GET
    /api/file/                                  GET
    /api/file/:file_id                          DELETE
    /api/file/usage                             GET
    /api/file/export.csv                        GET
    /api/video/                                 GET
    /api/video/export.csv                       GET
    /api/topup/                                 GET
    /api/topup/export.csv                       GET
    /api/user/                                  GET POST PUT
    /api/user/:id                               GET DELETE
    /api/user/:id/quota                         POST
    /api/user/:id/tokens                        GET
    /api/user/batch                             POST
    /api/user/export.csv                        GET
    /api/user/manage                            POST
    /api/user/search                            GET
  `,
  'admin!': `
    /api/topup/:id/check                        POST
    /api/topup/:id/complete                     POST
    /api/topup/:id/withdraw                     POST
  `,
  root: `
    /api/audit/                                 GET
    /api/audit/export.csv                       GET
    /api/audit/verify                           POST
    /api/option/test_mail                       POST
    /api/organisation/:id/quota                 POST
    /api/recording/call/:request_id             GET
    /api/recording/rules                        PUT
    /api/pricing/data                           GET
    /api/pricing/data/apply                     POST
    /api/pricing/data/check                     POST
    /api/pricing/data/dismiss                   POST
    /api/pricing/data/restore                   POST
    /api/pricing/data/undo                      POST
  `,
  relay: `
    /v1/chat/completions                        POST
    /v1/completions                             POST
    /v1/embeddings                              POST
    /v1/engines/{model}/embeddings              POST
    /v1/images/generations                      POST
    /v1/images/edits                            POST
    /v1/images/variations                       POST
    /v1/audio/speech                            POST
    /v1/audio/transcriptions                    POST
    /v1/audio/translations                      POST
    /v1/moderations                             POST
    /v1/decisions                               POST
    /rerank                                     POST
    /v1/rerank                                  POST
    /v2/rerank                                  POST
    /v1/responses                               POST WEBSOCKET
    /v1/responses/compact                       POST
    /v1/responses/input_tokens                  POST
    /v1/requests/{id}/cancel                    POST
    /v1/requests/{id}/events                    GET
    /v1/responses/{id}                          GET DELETE
    /v1/responses/{id}/cancel                   POST
    /v1/responses/{id}/input_items              GET
    /v1/realtime                                WEBSOCKET
    /v1/messages                                POST
    /v1/messages/count_tokens                   POST
    /v1/interactions                            POST
    /v1/interactions/{id}                       GET DELETE
    /v1/interactions/{id}/cancel                POST
    /v1beta/interactions                        POST
    /v1beta/interactions/{id}                   GET DELETE
    /v1beta/interactions/{id}/cancel            POST
    /v1beta/models/{model}:generateContent      POST
    /v1beta/models/{model}:streamGenerateContent POST
    /v1beta/models/{model}:countTokens          POST
    /v1beta/models/{model}:embedContent         POST
    /v1beta/models/{model}:batchEmbedContents   POST
    /v1beta/models/{model}:predict              POST
    /v1/models                                  GET
    /v1/models/{model}                          GET
    /v1/tunedModels/{id}                        GET
    /v1beta/models                              GET
    /v1beta/models/{model}                      GET
    /dashboard/billing/subscription             GET
    /dashboard/billing/usage                    GET
    /v1/dashboard/billing/subscription          GET
    /v1/dashboard/billing/usage                 GET
    /api/log/token                              GET
    /api/usage/token                            GET
    /v1/files                                   GET POST
    /v1/files/{id}                              GET DELETE
    /v1/files/{id}/content                      GET
    /v1/files/{id}:download                     GET
    /v1/batches                                 GET POST
    /v1/batches/{id}                            GET
    /v1/batches/{id}/cancel                     POST
    /v1beta/batches                             GET
    /v1beta/batches/{id}                        GET DELETE
    /v1beta/batches/{id}:cancel                 POST
    /v1beta/models/{model}:batchGenerateContent POST
    /v1/messages/batches                        GET POST
    /v1/messages/batches/{id}                   GET DELETE
    /v1/messages/batches/{id}/cancel            POST
    /v1/messages/batches/{id}/results           GET
    /v1/uploads                                 POST
    /v1/uploads/{id}/parts                      POST
    /v1/uploads/{id}/complete                   POST
    /v1/uploads/{id}/cancel                     POST
    /upload/v1/files                            POST
    /upload/v1beta/files                        POST
    /v1beta/files                               GET
    /v1beta/files/{id}                          GET DELETE
    /v1beta/files/{id}:download                 GET
    /mj/submit/imagine                          POST
    /mj/submit/change                           POST
    /mj/submit/simple-change                    POST
    /mj/submit/describe                         POST
    /mj/submit/blend                            POST
    /mj/submit/action                           POST
    /mj/submit/shorten                          POST
    /mj/submit/modal                            POST
    /mj/submit/upload-discord-images            POST
    /mj/insight-face/swap                       POST
    /mj/task/list-by-condition                  POST
    /mj/task/{id}/fetch                         GET
    /mj/task/{id}/image-seed                    GET
    /suno/submit/{act}                          POST
    /suno/fetch                                 POST
    /suno/fetch/{id}                            GET
    /v1/video/generations                       POST
    /v1/video/generations/{id}                  GET
    /v1/videos                                  GET POST
    /v1/videos/{id}                             DELETE GET
    /v1/videos/{id}/content                     GET
  `,
  playground: `
    /pg/chat/completions                        POST
    /pg/batches                                 POST
    /pg/batches/{id}/results                    GET
    /pg/files/{id}/content                      GET
    /pg/videos                                  GET POST
    /pg/videos/{id}                             DELETE GET
    /pg/decisions                               POST
    /pg/images/generations                      POST
    /pg/requests/{id}/cancel                    POST
    /pg/requests/{id}/events                    GET
  `,
  link: `
    /mj/image/{id}                              GET
    /mj/notify                                  POST
  `,
  metrics: `
    /metrics                                    GET
  `,
  directory: `
    /scim/v2/ServiceProviderConfig              GET
    /scim/v2/ResourceTypes                      GET
    /scim/v2/ResourceTypes/:id                  GET
    /scim/v2/Schemas                            GET
    /scim/v2/Schemas/:id                        GET
    /scim/v2/Users                              GET POST
    /scim/v2/Users/:id                          GET PUT PATCH DELETE
    /scim/v2/Groups                             GET POST
    /scim/v2/Groups/:id                         GET PUT PATCH DELETE
  `,
}

export type Policy = keyof typeof addresses
export type Answer = 'in' | keyof typeof refusals

const [head = '', ...rows] = cells.trim().split('\n')
const columns = head.trim().split(/ +/)

/** The answer under each policy, for each kind of caller. */
export const matrix: ReadonlyMap<string, Readonly<Record<Policy, Answer>>> = new Map(
  rows.map((row) => {
    const [caller = '', ...answers] = row.trim().split(/ {2,}/)
    // The test of the matrix checks the columns that it names.
    return [caller, Object.fromEntries(columns.map((policy, at) => [policy, answers[at]])) as Record<Policy, Answer>]
  }),
)

/** Each address, as `METHOD /path`, with its policy. */
export const policies: readonly (readonly [line: string, policy: Policy])[] = Object.entries(addresses).flatMap(
  ([policy, text]) =>
    text
      .trim()
      .split('\n')
      .flatMap((row) => {
        const [path = '', ...methods] = row.trim().split(/ +/)
        // The keys of the object above.
        return methods.map((method) => [`${method} ${path}`, policy as Policy] as const)
      }),
)
