import { existsSync } from 'node:fs'
import { createRoot } from './accounts/create-root.ts'
import { type EndpointSettings, ProviderClient } from './accounts/external-identity/endpoints.ts'
import { OidcKeys } from './accounts/external-identity/oidc-keys.ts'
import { HumanCheck } from './accounts/human-check.ts'
import { Passwords } from './accounts/passwords.ts'
import { Sessions } from './accounts/sessions.ts'
import { AnsweredModels } from './channels/answered-models.ts'
import { addChannelMetrics } from './channels/channel-metrics.ts'
import { EndpointMisses } from './channels/missing-endpoints.ts'
import { openChannels } from './channels/model-index.ts'
import { PromptAdditions } from './channels/prompt-additions.ts'
import { Spending } from './channels/spending.ts'
import { Traffic, type TrafficUpdate, usdPerCall } from './channels/traffic.ts'
import { migrate } from './db/migrate.ts'
import { openReader } from './db/reader.ts'
import type { Env } from './env.ts'
import { JobRunner } from './jobs/runner.ts'
import { jobs } from './jobs/table.ts'
import { ByteBudget } from './lib/byte-budget.ts'
import { CallerLog } from './lib/caller-log.ts'
import { type Clock, newSteadyClock, seconds } from './lib/clock.ts'
import { environmentProxy } from './lib/environment-proxy.ts'
import { UpstreamAgents, type UpstreamSettings } from './lib/http-client.ts'
import { type Logger, newLogger } from './lib/logger.ts'
import { tightenFiles } from './lib/private-files.ts'
import { Deadlines } from './lib/timer-wheel.ts'
import { version } from './lib/version.ts'
import { Budgets } from './limits/budgets.ts'
import { openCounters } from './limits/counters.ts'
import type { RedisTiming } from './limits/redis-windows.ts'
import { RequestLimits } from './limits/request-limits.ts'
import { RunningDownloads } from './limits/running-downloads.ts'
import { SearchQueue } from './limits/search-queue.ts'
import { Moderation } from './moderation/moderation.ts'
import { Mailer } from './notify/mailer.ts'
import { openCore } from './open-core.ts'
import type { Core } from './options/core.ts'
import type { App } from './parts.ts'
import { openCatalog } from './pricing/catalog.ts'
import { openPriceBook } from './pricing/price-book.ts'
import { loadShippedPrices } from './pricing/price-data.ts'
import { EmptyBalances } from './relay/admission/authenticate.ts'
import { HoldShares } from './relay/admission/hold-shares.ts'
import { PromptCounter } from './relay/admission/prompt-counter.ts'
import { Calibration } from './relay/admission/token-estimate.ts'
import { BackgroundRuns } from './relay/stored-responses/background-run.ts'
import { IdempotentRequests } from './relay/idempotency/idempotent-requests.ts'
import { removeOldReplies, UndeliveredReplies } from './relay/idempotency/undelivered-replies.ts'
import { SealedStates } from './relay/response/sealed-states.ts'
import { LocalResponses } from './relay/conversations/local-responses.ts'
import { PendingResponses } from './relay/stored-responses/pending-responses.ts'
import { UpstreamResponses } from './relay/conversations/upstream-responses.ts'
import { AccessTokens } from './relay/upstream/call-upstream.ts'
import { mediaLimits } from './relay/upstream/fetch-media.ts'
import { StatusSnapshots } from './status-page/snapshot.ts'
import { openAuthenticator } from './tokens/authenticate.ts'
import { AccessLog } from './usage/access-log.ts'
import { CallMetrics } from './usage/call-metrics.ts'
import { CallStatistics } from './usage/call-statistics.ts'
import { type CallObserver, CallObservers } from './usage/ended-calls.ts'
import { FailedCalls } from './usage/failed-calls.ts'
import { Recordings } from './usage/recordings.ts'
import type { Telemetry } from './usage/telemetry/open-telemetry.ts'
import { openLedger } from './wallet/open-ledger.ts'
import { StripeCalls } from './wallet/stripe-calls.ts'

/** Parts that a test may replace. */
export interface Replaceable {
  /** The clock of the machine. Unless `steady` is replaced too, it also measures durations and windows. */
  readonly now?: Clock
  readonly steady?: Clock
  /** The clock of the deadlines of requests, streams and sockets. */
  readonly active?: Clock
  readonly logger?: Logger
  /** Passwords with a cheaper hash than those of a real server. */
  readonly passwords?: Passwords
  /** Certificates of the mail server, instead of those that the system trusts. */
  readonly mailCertificates?: string
  /** Address of the verifier of human checks. */
  readonly humanVerifier?: string
  /** The endpoints of the identity providers. */
  readonly identityProviders?: EndpointSettings
  /** The longest time that a reply waits for its commit. */
  readonly commitWaitMs?: number
  /** Timeouts of Redis. */
  readonly redisTiming?: RedisTiming
  /** The address of Stripe. */
  readonly stripeAddress?: string
  /** Observers of calls beside those of a real server. */
  readonly callObservers?: readonly CallObserver[]
  /** Name resolution of channels, trusted certificates, and the addresses that count as the public internet. */
  readonly upstream?: Pick<UpstreamSettings, 'resolve' | 'certificates' | 'untrusted'>
}

export interface OpenApp {
  readonly app: App
  /** Path of a master key that this start has generated. */
  readonly createdKey: string | undefined
  /** Set if this start created the root account; tells whether it has the well-known default password. */
  readonly root: { defaultPassword: boolean } | undefined
  startJobs(): void
  close(): Promise<void>
}

/** A machine that starts both may have the database later. */
const databaseWaitMs = 60_000

/** Builds all parts in the order of the import list, and closes them in reverse. The only place where parts are connected. */
export async function openApp(env: Env, replaced: Replaceable = {}): Promise<OpenApp> {
  const now = replaced.now ?? Date.now
  const steady = replaced.steady ?? replaced.now ?? newSteadyClock()
  const logger = replaced.logger ?? newLogger(env.LOG_LEVEL)
  // Loads while the database opens.
  const loadingPrices = loadShippedPrices()
  if (existsSync(env.DATA_DIR))
    tightenFiles(env.DATA_DIR, (file, error) =>
      logger.error({ file, error }, 'other users of this machine can read a file of the server: its mode cannot be changed'),
    )
  const {
    core,
    createdKey,
    close: closeCore,
  } = await openCore(env, {
    ...{ now, steady, logger, databaseWaitMs },
    prepare: (database) =>
      migrate(database, { tell: (migration) => logger.info({ migration }, 'the database is brought up to date') }),
  })

  const upstream = new UpstreamAgents({
    proxyOf: environmentProxy(env),
    blockPrivate: env.BLOCK_PRIVATE_UPSTREAMS,
    newDispatcher:
      env.UPSTREAM_CLIENT === 'undici' ? (await import('./lib/upstream-http/undici-pool.ts')).newUndiciPool : undefined,
    ...replaced.upstream,
  })
  const { siblings } = core
  const ledger = await openLedger(core, replaced.commitWaitMs)
  await ledger.expire()
  const mailer = new Mailer(core, { certificates: replaced.mailCertificates })
  const passwords = replaced.passwords ?? new Passwords()
  const sessions = new Sessions(core)
  const human = new HumanCheck(core, upstream, replaced.humanVerifier)
  const providers = new ProviderClient(core, upstream, replaced.identityProviders)
  const identity = { providers, oidcKeys: new OidcKeys(core, providers) }
  const authenticator = openAuthenticator(core)
  const priceBook = await openPriceBook(core, await loadingPrices)
  const catalog = openCatalog(core, { data: () => priceBook.current, vendors: () => channels.current })
  const counters = await openCounters(core, replaced.redisTiming)
  const limits = new RequestLimits(core, counters)
  const promptCounter = new PromptCounter()
  const budgets = await Budgets.open(core)
  const moderation = new Moderation(core)
  const spending = new Spending(core)
  const traffic = new Traffic({
    now: steady,
    shared: counters.shared,
    announce: siblings && ((update) => siblings.announce('traffic', update)),
    priceOf: (model) => usdPerCall(catalog.modelPriceOf(model)),
    spentToday: (id) => spending.today(id),
  })
  siblings?.onAnnounced<TrafficUpdate>('traffic', (update) => traffic.receive(update))
  const channels = await openChannels(core, {
    forget(id) {
      upstream.forget(id)
      traffic.forgive(channels.current.keysOf(id))
    },
  })
  await spending.refresh(channels.current)
  addChannelMetrics(core.metrics, channels, traffic)
  const deadlines = new Deadlines(replaced.active)
  await removeOldReplies(core)
  const undelivered = new UndeliveredReplies(core, ledger)
  const reader = await openReader(core.database)
  const failedCalls = new FailedCalls(core)
  const recordings = new Recordings(core)
  await recordings.rules.refresh()
  const accessLog = env.ACCESS_LOG === '' ? undefined : new AccessLog(core, env.ACCESS_LOG)
  const callStatistics = new CallStatistics(core)
  const observers: CallObserver[] = [failedCalls, new CallMetrics(core), callStatistics, ...(replaced.callObservers ?? [])]
  if (accessLog) observers.push(accessLog)
  const telemetry = await telemetryOf(core)
  if (telemetry) observers.push(...telemetry.observers)

  const app: App = {
    ...core,
    callerLog: new CallerLog(logger, now),
    mailer,
    passwords,
    sessions,
    human,
    identity,
    stripe: new StripeCalls(core, upstream, replaced.stripeAddress),
    authenticator,
    ledger,
    emptyBalances: new EmptyBalances(),
    endpointMisses: new EndpointMisses(),
    catalog,
    priceBook,
    counters,
    limits,
    budgets,
    moderation,
    channels,
    spending,
    traffic,
    upstream,
    mediaMemory: new ByteBudget(mediaLimits),
    deadlines,
    accessTokens: new AccessTokens(upstream, now),
    calibration: new Calibration(),
    promptAdditions: new PromptAdditions(core),
    answeredModels: new AnsweredModels(core),
    holdShares: new HoldShares(steady),
    promptCounter,
    sealedStates: new SealedStates(core),
    upstreamResponses: new UpstreamResponses(core),
    pendingResponses: new PendingResponses(core, ledger),
    localResponses: new LocalResponses(core),
    backgroundRuns: new BackgroundRuns(),
    idempotentRequests: new IdempotentRequests(core, ledger, (requestId) => undelivered.has(requestId)),
    keyedCalls: new Map(),
    undelivered,
    failedCalls,
    callObservers: new CallObservers(observers, logger),
    callTracer: telemetry?.tracer,
    recordings,
    callStatistics,
    statusSnapshots: new StatusSnapshots({ ...core, channels, catalog }),
    version,
    reader,
    searches: new SearchQueue(reader),
    downloads: new RunningDownloads(),
    startedAt: seconds(now()),
    startJob: (name) => runner.startNow(name),
  }
  const root = await createRoot(app)
  const runner = new JobRunner(app, jobs)

  return {
    app,
    createdKey,
    root,
    startJobs: () => runner.start(),
    async close() {
      await runner.stop()
      await upstream.close()
      await moderation.close()
      await promptCounter.close()
      await counters.close()
      await authenticator.close()
      sessions.close()
      await mailer.close()
      app.idempotentRequests.close()
      await undelivered.close()
      await ledger.close()
      await app.failedCalls.close()
      await recordings.close()
      await accessLog?.close()
      await callStatistics.close()
      await app.answeredModels.flush()
      await telemetry?.close()
      channels.close()
      priceBook.close()
      await reader.close()
      await closeCore()
    },
  }
}

/** Its packages are loaded only if a collector is configured. */
async function telemetryOf(core: Core): Promise<Telemetry | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: isDisabled } = core.env
  if (endpoint === '' || isDisabled) return undefined
  const { openTelemetry } = await import('./usage/telemetry/open-telemetry.ts')
  return openTelemetry(core)
}
