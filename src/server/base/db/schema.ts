import type { Generated, Insertable, Selectable } from 'kysely'

/**
 * Every table, with the names of its interface. Times are unix seconds unless the name ends in `_ms`, quota is integer units,
 * flags are 0 or 1, JSON is text: the same on SQLite and PostgreSQL. `test/migrations.test.ts` compares this file with both.
 */
export interface Tables {
  users: UsersTable
  sessions: SessionsTable
  login_failures: LoginFailuresTable
  mailed_codes: MailedCodesTable
  mailed_addresses: { email: string; sent_at: number; window_start: number; sends: number }
  user_notices: { user_id: number; kind: string; sent_at: number; retry_at: Generated<number> }
  login_steps: LoginStepsTable
  two_factor: TwoFactorTable
  backup_codes: { user_id: number; code_mac: string }
  passkeys: PasskeysTable
  saved_views: { id: Generated<number>; user_id: number; list: string; name: string; shows: string; is_default: number }
  tokens: TokensTable
  organisations: { id: number; founded_by: number; transfer_to: Generated<number>; transfer_by: Generated<number> }
  organisation_members: OrganisationMembersTable
  organisation_teams: OrganisationTeamsTable
  organisation_team_members: OrganisationTeamMembersTable
  organisation_invitations: OrganisationInvitationsTable
  organisation_allowances: OrganisationAllowancesTable
  organisation_sign_on: OrganisationSignOnTable
  organisation_domains: { organisation_id: number; domain: string; created_at: number; confirmed_at: Generated<number> }
  directory_rules: DirectoryRulesTable
  directory_people: DirectoryPeopleTable
  directory_groups: DirectoryGroupsTable
  directory_group_people: { group_id: number; person_id: number }
  /** Member and team of a token of an organisation since a time. */
  token_places: { token_id: number; since: number; member_id: number; team_id: number }
  channels: ChannelsTable
  channel_keys: ChannelKeysTable
  upstream_models: UpstreamModelsTable
  options: { key: string; value: string }
  redemptions: RedemptionsTable
  top_ups: TopUpsTable
  ledger: LedgerTable
  holds: HoldsTable
  /** One row, of SQLite: the identity of the journal, the run of its last start, and the last batch in the tables (`wallet/charge-journal`). */
  ledger_journal: { id: string; run: string; applied: number }
  budgets: BudgetsTable
  budget_sums: BudgetSumsTable
  budget_charges: { request_id: string; budget_id: number; start: number; amount: number }
  budget_raises: BudgetRaisesTable
  site_costs: SiteCostsTable
  site_cost_days: SiteCostDaysTable
  incidents: IncidentsTable
  incident_updates: IncidentUpdatesTable
  sealed_states: SealedStatesTable
  kept_responses: KeptResponsesTable
  open_responses: OpenResponsesTable
  own_responses: OwnResponsesTable
  own_response_events: OwnResponseEventsTable
  idempotent_requests: IdempotentRequestsTable
  logs: LogsTable
  quota_data: QuotaDataTable
  usage_hours: UsageHoursTable
  token_hours: { user_id: number; token_name: string; hour: number; count: number; quota: number }
  log_purges: LogPurgesTable
  midjourneys: MidjourneysTable
  tasks: TasksTable
  videos: VideosTable
  audit: AuditTable
  key_ring: { id: string; wrapped: string; created_at: number }
  leases: { name: string; holder: string; until_ms: number }
  revisions: { topic: string; revision: number }
  nodes: { name: string; version: string; started_at: number; seen_at: number; memory_mb: number }
  /** Each time that another version began to run, in unix seconds. */
  deployments: { number: number; version: string; at: number }
  files: FilesTable
  batches: BatchesTable
  batch_lines: BatchLinesTable
  resumable_replies: ResumableRepliesTable
  reply_pieces: { request_id: string; first: number; last: number; sealed: string; bytes: number }
  price_data: PriceDataTable
  imports: ImportsTable
  imported_rows: ImportedRowsTable
  destinations: DestinationsTable
  deliveries: DeliveriesTable
  recording_rules: RecordingRulesTable
  recordings: RecordingsTable
  call_sums: CallSumsTable
  call_errors: CallErrorsTable
  alert_rules: AlertRulesTable
  alerts: AlertsTable
  alert_silences: AlertSilencesTable
  alert_measures: AlertMeasuresTable
  answered_models: AnsweredModelsTable
  quality_checks: QualityChecksTable
  quality_results: QualityResultsTable
  quality_standings: QualityStandingsTable
  /** The newest backup: only `last-backup.ts` writes it. */
  last_backup: { id: number; made_at: number; duration_ms: number; bytes: number; rows: number }
  job_runs: { name: string; holder: string; started_at: number; finished_at: number; outcome: string; detail: string }
}

/** Streamed answers that their callers may continue. */
interface ResumableRepliesTable {
  request_id: string
  user_id: number
  token_id: number
  fingerprint: string
  model: string
  /** Of a stream of Responses; '' for others. */
  response_id: string
  /** `running`, `done` or `cut`. */
  state: string
  /** Nobody follows it. */
  is_left: number
  is_cancelled: number
  node: string
  lease_until: number
  created_at: number
  expires_at: number
}

/** Which calls are recorded. */
interface RecordingRulesTable {
  /** `token`, `user`, `channel` or `share`. */
  kind: string
  /** The id of the token, user or channel; 0 for a share of all calls. */
  target: number
  per_mille: number
  until: number
  created_by: string
  created_at: number
}

interface RecordingsTable {
  request_id: string
  user_id: number
  created_at: number
  /** Size of both sealed columns. */
  bytes: number
  caller_sealed: string
  upstream_sealed: string
}

interface UsersTable {
  id: Generated<number>
  username: string
  /** The name folded by case and width; unique. */
  username_key: string
  display_name: string
  password_hash: string
  must_change_password: Generated<number>
  role: Generated<number>
  status: Generated<number>
  email: Generated<string>
  github_id: Generated<string>
  wechat_id: Generated<string>
  telegram_id: Generated<string>
  linux_do_id: Generated<string>
  /** Issuer and subject of an account at an OpenID provider, with a space between. */
  oidc_id: Generated<string>
  access_token_hash: string | null
  group: Generated<string>
  /** The sum of this user's ledger rows. Only `wallet/ledger` changes it. */
  quota: Generated<number>
  /** Quota reserved by open holds. Only `wallet/ledger` changes it. */
  held: Generated<number>
  used_quota: Generated<number>
  request_count: Generated<number>
  aff_code: string
  aff_count: Generated<number>
  aff_quota: Generated<number>
  aff_history_quota: Generated<number>
  inviter_id: Generated<number>
  setting: Generated<string>
  created_time: number
  deleted_at: number | null
  /** `person`, or `organisation` for an account that pays for its members and has no login. Never changes. */
  kind: Generated<string>
}

/** A member of an organisation asks for a greater amount of a budget. */
interface BudgetRaisesTable {
  id: Generated<number>
  organisation_id: number
  budget_id: number
  user_id: number
  amount: number
  reason: Generated<string>
  created_at: number
  /** '' while it is open, else `granted` or `refused`. */
  answer: Generated<string>
  answered_by: Generated<string>
  answered_at: Generated<number>
}

/** Who belongs to an organisation, and who did. */
interface OrganisationMembersTable {
  id: Generated<number>
  organisation_id: number
  user_id: number
  /** `owner`, `admin`, `billing` or `member`. */
  role: string
  /** The user who invited; 0 for the founder. */
  invited_by: Generated<number>
  created_at: number
  left_at: number | null
  /** The role that the groups of the directory give; '' for none. Then `role` is the higher of it and `hand_role`. */
  directory_role: Generated<string>
  /** The role that a person has given; only where there is a `directory_role`. */
  hand_role: Generated<string>
}

interface OrganisationTeamMembersTable {
  team_id: number
  member_id: number
  is_manager: Generated<number>
  /** Whether a group of the directory has put the member there. */
  by_directory: Generated<number>
}

/** How the people of an organisation sign in, and the token by which its directory keeps them. */
interface OrganisationSignOnTable {
  organisation_id: number
  /** Of the OpenID provider; '' for none. */
  issuer: Generated<string>
  client_id: Generated<string>
  secret_sealed: Generated<string>
  /** The claim of the ID token that lists groups; '' for none. */
  group_claim: Generated<string>
  is_enabled: Generated<number>
  /** Whether a person that the site does not know gets an account. */
  creates_accounts: Generated<number>
  /** Whether accounts that came by the directory sign in there alone. */
  is_only_way: Generated<number>
  /** SHA-256 of the SCIM token. */
  scim_hash: string | null
  scim_created_at: Generated<number>
  scim_used_at: Generated<number>
}

/** What a group of the directory means: a role, or a place in a team. */
interface DirectoryRulesTable {
  id: Generated<number>
  organisation_id: number
  directory_group: string
  role: Generated<string>
  team_id: Generated<number>
  is_manager: Generated<number>
}

/** A user as the directory of an organisation knows them. */
interface DirectoryPeopleTable {
  id: Generated<number>
  organisation_id: number
  user_id: number
  /** Issuer and subject of the ID token; '' before the first login. */
  subject: Generated<string>
  /** Of SCIM, as the directory has sent them. */
  user_name: Generated<string>
  user_name_key: Generated<string>
  external_id: Generated<string>
  /** JSON: names and addresses as the directory has sent them. */
  profile: Generated<string>
  /** JSON: the groups of the last login. */
  claimed_groups: Generated<string>
  /** Whether the account was created for this person of the directory. */
  came_by_it: Generated<number>
  /** The membership that ended when the directory switched the person off, and JSON of its teams; 0 for none. */
  suspended_member: Generated<number>
  suspended_teams: Generated<string>
  created_at: number
  updated_at: number
}

/** A group that the directory has sent by SCIM. */
interface DirectoryGroupsTable {
  id: Generated<number>
  organisation_id: number
  name: string
  name_key: string
  external_id: Generated<string>
  created_at: number
  updated_at: number
}

interface OrganisationTeamsTable {
  id: Generated<number>
  organisation_id: number
  /** The team that it is a part of; 0 for one directly below the organisation. */
  parent_id: Generated<number>
  name: string
  created_at: number
  closed_at: number | null
}

interface OrganisationInvitationsTable {
  id: Generated<number>
  organisation_id: number
  /** '' for a link that the inviter passes on. */
  email: Generated<string>
  role: string
  team_id: Generated<number>
  /** SHA-256 of the secret in the link. */
  token_hash: string
  invited_by: number
  created_at: number
  expires_at: number
  /** '' while it is open, else `accepted`, `declined` or `withdrawn`. */
  answer: Generated<string>
  answered_by: Generated<number>
  answered_at: Generated<number>
}

/** What tokens below an organisation, a team or a member may do; read when a token is loaded. */
interface OrganisationAllowancesTable {
  /** `organisation`, `team` or `member`. */
  scope: string
  /** The id of the organisation, team or member. */
  subject_id: number
  organisation_id: number
  /** Names with commas between; '' for all. */
  models: Generated<string>
  groups: Generated<string>
  /** Tokens of one member; -1 for any number. */
  tokens_max: Generated<number>
  /** Days that a token lives; 0 for ever. */
  days_max: Generated<number>
  is_strict: Generated<number>
}

interface SessionsTable {
  id: Generated<number>
  token_hash: string
  user_id: number
  created_at: number
  seen_at: number
  authenticated_at: number
  address: string
  user_agent: string
}

interface LoginFailuresTable {
  /** `user:<folded name>` or `address:<address block>`. */
  key: string
  failures: number
  blocked_until: number
  updated_at: number
}

/** Mailed secrets that users send back: a code, or the token of a link. */
interface MailedCodesTable {
  /** Purpose and subject: `register:0:<address>`. One is valid at a time. */
  key: string
  /** A mac of key and code; '' when nothing was mailed, so that no code matches. */
  code_hash: string
  /** The user whose password or address changes delete the codes; 0 while there is no user yet. */
  user_id: number
  expires_at: number
  guesses: Generated<number>
}

/** The state of a login or authentication of several steps. Only `accounts/login-steps` reads and writes it. */
interface LoginStepsTable {
  /** The kind, and the hash of a secret that only the client has: `state:<hash>`. */
  key: string
  /** Hash of the cookie of the browser, or of the session, that may continue with it. */
  bound_to: string
  /** The user; 0 while unknown. */
  user_id: number
  detail_sealed: string
  expires_at: number
  guesses: Generated<number>
}

/** The authenticator app of a user. */
interface TwoFactorTable {
  user_id: number
  secret_sealed: string
  /** 0 while it is being set up: then it is not required yet. */
  confirmed_at: Generated<number>
  /** Number of the period of the last accepted code; codes of that or an earlier period are refused. */
  last_step: Generated<number>
}

interface PasskeysTable {
  id: Generated<number>
  user_id: number
  /** base64url, as the key is. */
  credential_id: string
  public_key: string
  /** The signature counter of the passkey; many always report 0. */
  counter: Generated<number>
  transports: Generated<string>
  name: string
  created_at: number
  used_at: Generated<number>
}

interface TokensTable {
  id: Generated<number>
  user_id: number
  /** SHA-256 of the key without `sk-`. */
  key_hash: string
  key_sealed: string
  status: Generated<number>
  name: string
  created_time: number
  accessed_time: number
  expired_time: Generated<number>
  remain_quota: Generated<number>
  held: Generated<number>
  unlimited_quota: Generated<number>
  used_quota: Generated<number>
  model_limits_enabled: Generated<number>
  model_limits: Generated<string>
  allow_ips: Generated<string>
  group: Generated<string>
  /** Limits of this token within `limit_seconds` seconds; 0 means no limit. */
  limit_seconds: Generated<number>
  limit_requests: Generated<number>
  limit_tokens: Generated<number>
  limit_concurrency: Generated<number>
  strict_translation: Generated<number>
  refuse_hosted_tools: Generated<number>
  resumable: Generated<number>
  deleted_at: number | null
  /** The member of the organisation that pays; 0 for none, and for tokens of users. */
  member_id: Generated<number>
  team_id: Generated<number>
}

interface ChannelsTable {
  id: Generated<number>
  type: number
  /** Only nodes of the version before `channel_keys` read it; '' since a key was changed. */
  key_sealed: string
  openai_organization: Generated<string>
  test_model: Generated<string>
  max_input_tokens: Generated<number>
  status: Generated<number>
  name: string
  weight: Generated<number>
  priority: Generated<number>
  created_time: number
  test_time: Generated<number>
  response_time: Generated<number>
  base_url: Generated<string>
  other: Generated<string>
  balance: Generated<number>
  balance_updated_time: Generated<number>
  models: Generated<string>
  group: Generated<string>
  used_quota: Generated<number>
  model_mapping: Generated<string>
  status_code_mapping: Generated<string>
  auto_ban: Generated<number>
  other_info: Generated<string>
  tag: Generated<string>
  setting: Generated<string>
  /** Endpoints that its upstream was found to lack, as JSON: the time for each. */
  lacking: Generated<string>
  /** Tokens that its upstream was found to add to prompts, as JSON: the number for each of its models. */
  prompt_additions: Generated<string>
  /** Why the last test failed: the status, a space and the reason in both languages; '' when it passed. */
  test_failure: Generated<string>
}

/** Keys of channels. An enabled channel has at least one enabled key. */
interface ChannelKeysTable {
  id: Generated<number>
  channel_id: number
  key_sealed: string
  /** As for channels: 1 enabled, 2 disabled by an admin, 3 disabled automatically, with the reason and the time. */
  status: Generated<number>
  status_reason: Generated<string>
  status_time: Generated<number>
  created_time: number
}

/** Lists of names, as JSON: the last model list of a channel's upstream, and the models added and removed since an admin last looked. */
interface UpstreamModelsTable {
  channel_id: number
  models: string
  added: string
  removed: string
  /** JSON of `channels/model-ends`: when models of the list end, by name; '' when it tells none. */
  ends: string
  checked_at: number
}

interface RedemptionsTable {
  id: Generated<number>
  user_id: number
  key_hash: string
  key_sealed: string
  status: Generated<number>
  name: string
  quota: number
  created_time: number
  redeemed_time: Generated<number>
  used_user_id: Generated<number>
  /** 0 means never. */
  expired_time: Generated<number>
  deleted_at: number | null
}

interface TopUpsTable {
  id: Generated<number>
  user_id: number
  provider: string
  method: string
  trade_no: string
  /** Units to credit, fixed when the order is made. */
  quota: number
  amount: number
  /** Money to pay in minor units of `currency`. */
  money_minor: number
  currency: string
  status: string
  created_time: number
  completed_time: Generated<number>
  /** The provider's id of the order: a checkout session, or the order number of the gateway. '' until it is known. */
  provider_id: Generated<string>
  /** The provider's id of the payment: refunds and disputes refer to it. */
  payment_id: Generated<string>
  refunded_minor: Generated<number>
  /** The state of a chargeback as the provider names it; '' without a chargeback. */
  dispute: Generated<string>
  /** Units that an admin took back for a refund or a chargeback. */
  withdrawn: Generated<number>
}

export type LedgerKind = 'charge' | 'grant' | 'top_up' | 'redeem' | 'reward' | 'transfer' | 'refund' | 'adjust'

/** Append-only; triggers refuse UPDATE and DELETE. */
interface LedgerTable {
  id: Generated<number>
  /**
   * The cause of the row, unique: `charge:<request id>`, `redeem:<id>`, `grant:<user id>` … A second row of the same cause cannot
   * exist.
   */
  reference: string
  user_id: number
  token_id: number
  kind: LedgerKind
  /** Signed units: negative for a charge. */
  amount: number
  created_at: number
  detail: Generated<string>
}

/** Open holds: all of them on PostgreSQL; on SQLite those of streams longer than five seconds. */
interface HoldsTable {
  request_id: string
  user_id: number
  token_id: number
  amount: number
  node: string
  lease_until: number
  /** The charge to settle with when the node dies: JSON of `wallet/ledger` Charge, or '' while nothing was produced. */
  checkpoint: Generated<string>
  created_at: number
  /** The budget windows that count the hold: `windowsText` of `wallet/budget-window`, '' without any. */
  budgets: Generated<string>
}

/** `limits/manage-budgets` writes it. */
interface BudgetsTable {
  id: Generated<number>
  scope: string
  subject: string
  /** The id of the subject; 0 for a group or model, whose subject is a name. */
  subject_id: Generated<number>
  name: Generated<string>
  period: string
  seconds: Generated<number>
  /** Quota units. */
  amount: number
  is_hard: Generated<number>
  /** Percentages, with commas between them. */
  shares: Generated<string>
  set_by: string
  override_amount: Generated<number>
  /** 0 means no end. */
  override_until: Generated<number>
  has_override: Generated<number>
  created_at: number
}

/** The sums of a window of a budget, or of a piece of a sliding window. Only `wallet` changes `charged` and `held`. */
interface BudgetSumsTable {
  budget_id: number
  /** 0 for a budget without windows. */
  start: number
  /** Sum of its rows in `budget_charges`. */
  charged: Generated<number>
  /** The part of `charged` that a reset has excluded. */
  forgiven: Generated<number>
  /** Reserved by open holds; always 0 on SQLite, whose holds are in memory. */
  held: Generated<number>
  /** The highest percentage that a notification was sent for. */
  noticed: Generated<number>
}

/** Upstream costs of requests that no user is charged for. Only `wallet` writes it; purges of the log do not change it. */
interface SiteCostsTable {
  /** For ended site calls, a common key of several: see `money/ledger/site-calls.ts`. */
  request_id: string
  user_id: number
  channel_id: number
  model: string
  /** Units, at least 0. */
  amount: number
  /** `SiteCostReason`. */
  reason: string
  /** Unix seconds, the same as of the log row. */
  created_at: number
  /** Number of calls that have this cost together. */
  calls: Generated<number>
}

/** What calls of the site itself cost on a day of UTC (unix seconds of its start), with the holds of those that are running. */
interface SiteCostDaysTable {
  reason: string
  day: number
  amount: Generated<number>
}

/** Incidents and planned maintenance on the status page. Lists are JSON. */
interface IncidentsTable {
  id: Generated<number>
  kind: string
  title: string
  state: string
  impact: string
  /** If both are empty, everything is affected. */
  groups: Generated<string>
  models: Generated<string>
  starts_at: number
  /** When it was resolved, or is planned to end; 0 for neither. */
  ends_at: Generated<number>
  created_by: string
  created_at: number
}

interface IncidentUpdatesTable {
  id: Generated<number>
  incident_id: number
  state: string
  message: string
  created_by: string
  created_at: number
}

/** Opaque state that models require back with their tool calls. Read and written only by the relay. */
interface SealedStatesTable {
  owner: string
  call_id: string
  state_sealed: string
  expires_at: number
}

/** The upstream location of a stored response, of one of its items, or of a message of a thread. */
interface KeptResponsesTable {
  user_id: number
  response_id: string
  token_id: number
  channel_id: number
  key_id: number
  /** As the caller named it. */
  model: string
  /** The length of the conversation in tokens, including this response. */
  tokens: Generated<number>
  expires_at: number
}

/** Responses that continue after their request was answered: each is charged once its usage is known. Written by `relay/stored-responses`. */
interface OpenResponsesTable {
  request_id: string
  user_id: number
  response_id: string
  channel_id: number
  key_id: number
  /** Quota units that are held for it. */
  held: number
  /** The facts for its charge: JSON of `relay/stored-responses` Bill. */
  bill: string
  /** The node that polls for it, and until when no other does. */
  node: Generated<string>
  lease_until: Generated<number>
  /** The time of the next poll. */
  ask_at: Generated<number>
  /** The number of polls. */
  asked: Generated<number>
  created_at: number
}

/** Batches that users order at vendors. Written by `gateway/batches`. */
interface BatchesTable {
  id: string
  user_id: number
  token_id: number
  channel_id: number
  key_id: number
  dialect: string
  /** The vendor's id, which no caller sees; '' before the vendor has given one. */
  vendor_id: string
  state: string
  /** JSON: what the caller has asked, without the requests. */
  asked: string
  /** JSON: who has asked, for the log. */
  caller: string
  /** JSON: the prices by model as they were when the batch was ordered. */
  prices: string
  /** JSON: the vendor's object without its ids. */
  vendor_object: string
  requests: number
  held: number
  charged: number
  output_file: string
  error_file: string
  created_at: number
  /** When its order was sent; 0 before. */
  sent_at: number
  /** 0 until it is charged, or has failed. */
  ended_at: number
  /** When its vendor is asked again; 0 for never. */
  ask_at: number
  /** Until when a node settles it, and how many have tried. */
  settling_until: number
  fence: number
}

/** The requests of batches. Written by `gateway/batches`. */
interface BatchLinesTable {
  batch_id: string
  line: number
  custom_id: string
  model: string
  held: number
  /** JSON: what the charge of the request needs besides its price. */
  facts: string
  state: string
  prompt_tokens: number
  completion_tokens: number
  amount: number
  /** What the request cost beyond its hold, which the site bears. */
  borne: number
  estimated: number
}

/** Files that users store at vendors. Written by `relay/conversations/kept-files.ts`. */
interface FilesTable {
  id: string
  user_id: number
  token_id: number
  channel_id: number
  key_id: number
  dialect: string
  /** The vendor's id, which no caller sees. */
  vendor_id: string
  state: string
  filename: string
  purpose: string
  bytes: number
  /** JSON: the vendor's object without its ids. */
  vendor_object: string
  created_at: number
  /** 0 for never. */
  expires_at: number
  /** When the vendor is asked again to delete it. */
  ask_at: number
}

/** Responses that this server stores for channels that store none. Written by `relay/stored-responses`. */
interface OwnResponsesTable {
  user_id: number
  response_id: string
  token_id: number
  /** As the caller named it. */
  model: string
  /** As the vendor names it: queued, in_progress, completed, incomplete, failed, cancelled. */
  status: string
  /** The first response of the conversation. */
  thread: string
  /** The id of the response that it continues; '' without one. */
  previous_id: string
  is_background: Generated<number>
  /** Request and response: encrypted JSON of `relay/stored-responses` Content. */
  content_sealed: string
  bytes: number
  /**
   * While it is being produced: its node, the time until which no other node may declare it lost, and whether it has to stop. 0
   * when it has ended.
   */
  node: Generated<string>
  lease_until: Generated<number>
  is_cancelled: Generated<number>
  /** The request that is charged for it; '' in rows that earlier versions wrote after their charge. */
  request_id: Generated<string>
  /** In the background, while its charge may not be durable yet: the status that it will have, and the encrypted response. */
  ends_as: Generated<string>
  end_sealed: Generated<string>
  created_at: number
  expires_at: number
}

/** The stream of a response that was made in the background, some events per row. */
interface OwnResponseEventsTable {
  user_id: number
  response_id: string
  /** The number of the last event of the row. */
  number: number
  events_sealed: string
  bytes: number
  expires_at: number
}

/** Requests with an `Idempotency-Key`. Read and written by `relay/replies`. */
interface IdempotentRequestsTable {
  user_id: number
  /** 0 for the playground. */
  token_id: number
  /** SHA-256 of the key. */
  key_hash: string
  /** SHA-256 of address and body. */
  fingerprint: string
  /** The request that runs or ran under the key. */
  request_id: string
  /** `running`; `done`: the reply is here; `unavailable`: charged, but the reply is not stored. */
  state: string
  node: string
  /** Until then the node owns the running request; 0 when it has ended. */
  lease_until: number
  status: Generated<number>
  /** JSON. */
  headers: Generated<string>
  body_sealed: Generated<string>
  /** Length of the body before it was sealed. */
  bytes: Generated<number>
  created_at: number
  expires_at: number
}

interface LogsTable {
  /** Below 0 for rows of an import: `usage/imported-logs.ts`. */
  id: Generated<number>
  user_id: number
  created_at: number
  type: number
  content: Generated<string>
  username: Generated<string>
  token_id: Generated<number>
  token_name: Generated<string>
  model_name: Generated<string>
  quota: Generated<number>
  prompt_tokens: Generated<number>
  completion_tokens: Generated<number>
  use_time: Generated<number>
  is_stream: Generated<number>
  channel_id: Generated<number>
  group: Generated<string>
  request_id: Generated<string>
  other: Generated<string>
  /** For a failed call (type 5): the status and the code that its caller got; 0 and '' in other rows. */
  error_status: Generated<number>
  error_code: Generated<string>
}

/** Usage rolled up by hour. `token_used` counts input and output tokens. */
interface QuotaDataTable {
  created_at: number
  user_id: number
  username: string
  model_name: string
  channel_id: number
  group: string
  token_used: number
  count: number
  quota: number
}

/**
 * The rollup: `quota_data` of a past hour by one dimension, JSON of `usage/rollup` Sums. Only `usage/roll-up` writes this table and
 * `token_hours`.
 */
interface UsageHoursTable {
  side: string
  hour: number
  sums: string
}

/** Statistics of calls and attempts. Only `usage/call-sums` reads and writes this table and `call_errors`. */
interface CallSumsTable {
  /** A side of `usage/call-sums`. */
  side: string
  /** The length of the row in seconds. */
  span: number
  /** Its beginning in unix seconds. */
  at: number
  key: string
  count: number
  answered: number
  failed: number
  tokens_in: number
  tokens_out: number
  quota: number
  output_ms: number
  /** The text of a `lib/histogram`, as is `first_bytes`. */
  durations: string
  first_bytes: string
}

interface CallErrorsTable {
  side: string
  span: number
  at: number
  key: string
  code: string
  count: number
  message: string
  last_at: number
}

/** Requested purges of the log. Only `usage/purge` writes it. */
interface LogPurgesTable {
  id: Generated<number>
  before: number
  asked_by: string
  asked_at: number
  /** The time of the oldest row when the purge began, and the time that it has reached. */
  oldest: number
  position: number
  removed: Generated<number>
  /** 0 while it runs. */
  finished_at: Generated<number>
}

interface MidjourneysTable {
  id: Generated<number>
  code: number
  user_id: number
  token_id: Generated<number>
  action: string
  mj_id: string
  prompt: Generated<string>
  prompt_en: Generated<string>
  description: Generated<string>
  state: Generated<string>
  submit_time: Generated<number>
  start_time: Generated<number>
  finish_time: Generated<number>
  image_url: Generated<string>
  status: Generated<string>
  progress: Generated<string>
  fail_reason: Generated<string>
  channel_id: number
  quota: Generated<number>
  buttons: Generated<string>
  properties: Generated<string>
  /** The request that created it: its charge is `charge:<request id>` of the ledger. */
  request_id: Generated<string>
  /** The channel key with which it was created. */
  key_id: Generated<number>
  /** The time of the next poll, unix seconds; 0 when it has ended. */
  ask_at: Generated<number>
  /** The number of failed attempts to fetch it. */
  asked: Generated<number>
  /** The model and group of the hour bucket that contains its charge; '' for rows of earlier versions. */
  charged_model: Generated<string>
  charged_group: Generated<string>
}

interface TasksTable {
  id: Generated<number>
  created_at: number
  updated_at: number
  task_id: string
  platform: string
  user_id: number
  token_id: Generated<number>
  channel_id: number
  quota: Generated<number>
  action: string
  status: string
  fail_reason: Generated<string>
  submit_time: Generated<number>
  start_time: Generated<number>
  finish_time: Generated<number>
  progress: Generated<string>
  properties: Generated<string>
  data: Generated<string>
  /** The request that created it: its charge is `charge:<request id>` of the ledger. */
  request_id: Generated<string>
  /** The channel key with which it was created. */
  key_id: Generated<number>
  /** The time of the next poll, unix seconds; 0 when it has ended. */
  ask_at: Generated<number>
  /** The number of failed attempts to fetch it. */
  asked: Generated<number>
  charged_model: Generated<string>
  charged_group: Generated<string>
}

/** An order of clips and its job at the vendor. Times in unix seconds. */
interface VideosTable {
  id: Generated<number>
  /** The id that callers see: `video_…`. */
  public_id: string
  user_id: number
  token_id: Generated<number>
  channel_id: Generated<number>
  /** The channel key with which it was ordered. */
  key_id: Generated<number>
  action: string
  /** The model that the caller asked for, and the vendor's name of it. */
  model: string
  upstream_model: Generated<string>
  upstream_id: Generated<string>
  prompt: Generated<string>
  /** JSON: what is sold, and its price as it was at admission. */
  clip: string
  status: string
  progress: Generated<string>
  fail_reason: Generated<string>
  submit_time: Generated<number>
  finish_time: Generated<number>
  quota: Generated<number>
  /** The request that created it: its charge is `charge:<request id>` of the ledger. */
  request_id: Generated<string>
  /** The time of the next poll; 0 when it has ended. */
  ask_at: Generated<number>
  /** The number of failed attempts to fetch it. */
  asked: Generated<number>
  charged_model: Generated<string>
  charged_group: Generated<string>
  /** How many clips the vendor has made. */
  delivered: Generated<number>
  /** JSON, encrypted: where the vendor has the clips. */
  files_sealed: Generated<string>
  /** Bytes of its clips in the data folder; -1 when they could not be kept. */
  kept_bytes: Generated<number>
  /** The key of the kept clips, encrypted. */
  kept_sealed: Generated<string>
  /** When its owner has deleted it; 0 otherwise. */
  deleted_at: Generated<number>
}

/** Published price data: the data used instead of the package's, and the newest data found. */
interface PriceDataTable {
  slot: 'in_use' | 'newer' | 'previous'
  /** SHA-256 of `vendors` when it was fetched. */
  hash: string
  /** JSON as `published-data.ts` accepted it; empty once it is dismissed. */
  vendors: Generated<string>
  /** Models of the published data that this version could not price. */
  left_out: Generated<number>
  fetched_at: number
  dismissed: Generated<number>
}

/** Databases of other programs that were imported. Only `import/` writes this table and `imported_rows`. */
interface ImportsTable {
  id: Generated<number>
  /** `new-api`, `one-api`, `litellm`. */
  family: string
  /** 1 if rows kept their ids, because the site was unused before the import. */
  keeps_ids: number
  started_at: number
}

/**
 * Which row of a source became which row here. Log rows need no entry: their ids contain the source id (`usage/imported-logs.ts`).
 */
interface ImportedRowsTable {
  import_id: number
  /** The table in this database. */
  entity: string
  source_id: number
  row_id: number
  /** A MAC of a secret of the row, by which the same source database is recognised at any address. */
  mark: string
}

/** Append-only record of administrative acts; `chain` is an HMAC over the row and the chain of the row before. */
interface AuditTable {
  id: Generated<number>
  created_at: number
  actor_id: number
  actor_name: string
  address: string
  action: string
  target: string
  before: string
  after: string
  chain: string
}

/** Destinations of alerts and events. Only `notify/` writes it. */
interface DestinationsTable {
  id: Generated<number>
  /** The organisation whose webhook it is; 0 for the site. */
  organisation_id: Generated<number>
  kind: string
  name: string
  /** The language of the texts of alerts. */
  language: string
  /** `destinationStatus` of the contract. */
  status: Generated<number>
  /** The events that it subscribes to: JSON list of names. */
  events: string
  /** JSON of the settings of its kind. */
  settings_sealed: Generated<string>
  /** The id of the last failed call in the log of which it was notified. */
  failed_call_id: Generated<number>
  /** The time of the first failed delivery since the last success; 0 without one. */
  failing_since: Generated<number>
  last_error: Generated<string>
  /** When it was disabled automatically. */
  status_time: Generated<number>
  created_at: number
}

/** One message to one destination. `usage/record-event` and `notify/` write it. */
interface DeliveriesTable {
  id: Generated<number>
  destination_id: number
  /** Identifies repeated messages to the receiver. */
  message_id: string
  type: string
  /** JSON of `usage/record-event` Message. */
  message: string
  /** `pending`, `sent` or `failed`. */
  state: string
  attempts: Generated<number>
  next_at: Generated<number>
  /** Until then one node is sending it. */
  lease_until: Generated<number>
  /** HTTP status of the last answer. */
  status: Generated<number>
  answer: Generated<string>
  created_at: number
  finished_at: Generated<number>
}

/** The settings of a rule that an admin has changed. Only `alerts/` writes this and the next three. */
interface AlertRulesTable {
  rule: string
  enabled: number
  /** JSON, as the two that follow: numbers by name, names or ids of subjects, ids of destinations. */
  params: string
  scope: string
  destinations: string
  repeat_seconds: number
  notify_recovery: number
}

/** A subject of a rule that fires or has fired; at most one row of each fires at a time. */
interface AlertsTable {
  id: Generated<number>
  rule: string
  subject: string
  name: string
  value: number
  threshold: number
  fired_at: number
  /** 0 while it fires. */
  resolved_at: Generated<number>
  /** Time of the last message; 0 without one. */
  notified_at: Generated<number>
  messages: Generated<number>
  /** Text in both languages; '' without. */
  note: Generated<string>
}

interface AlertSilencesTable {
  id: Generated<number>
  /** '' means every rule, and every subject. */
  rule: Generated<string>
  subject: Generated<string>
  until: number
  comment: Generated<string>
  created_by: string
  created_at: number
}

/** A measure of an hour, for rules whose past values are stored nowhere else. */
/** Replies that named another model than was sent to the upstream. */
interface AnsweredModelsTable {
  channel_id: number
  hour: number
  sent: string
  answered: string
  calls: number
  charged: number
  /** The calls whose answering model has a price, and the cost at that price less the charge of these calls. */
  priced: number
  difference: number
}

interface AlertMeasuresTable {
  rule: string
  subject: string
  /** The node that measured it; '' for a value that is the same on all nodes. */
  node: string
  hour: number
  name: string
  /** The value of the hour that came closest to firing, and the newest value. */
  worst: number
  last: number
  measured_at: number
}

/** Prompts that the site sends to channels on a schedule. Only `quality/` writes this and the next two. */
interface QualityChecksTable {
  id: Generated<number>
  name: string
  enabled: Generated<number>
  /** JSON: models, channels, schedule and thresholds. */
  settings: string
  /** JSON: prompt, tools and expectations. */
  question: string
  /** Number of changes of the question: results of another revision are not compared. */
  revision: Generated<number>
  /** 1 if an admin has requested a run. */
  is_requested: Generated<number>
  /** The beginning of the unfinished run; 0 without one. */
  run_at: Generated<number>
  last_run_at: Generated<number>
  next_run_at: Generated<number>
  last_skipped: Generated<number>
  last_skip_code: Generated<string>
  created_by: string
  created_at: number
}

/** One answer of a channel to a quality check. */
interface QualityResultsTable {
  id: Generated<number>
  check_id: number
  revision: number
  run_at: number
  channel_id: number
  model: string
  sample: number
  created_at: number
  outcome: string
  /** JSON: the expectations that were not met. */
  faults: string
  error: Generated<string>
  ms: number
  input_tokens: Generated<number>
  output_tokens: Generated<number>
  /** Quota units, borne by the site. */
  cost: Generated<number>
  /** The beginning of the answer; '' without one. */
  answer_sealed: Generated<string>
}

/** The state of a channel in a quality check after its last run. */
interface QualityStandingsTable {
  check_id: number
  channel_id: number
  model: string
  state: string
  /** Percent; -1 means none. */
  share: number
  baseline: number
  runs: number
  passed: number
  total: number
  run_at: number
}

export type Row<Table extends keyof Tables> = Selectable<Tables[Table]>
export type NewRow<Table extends keyof Tables> = Insertable<Tables[Table]>
