import { existsSync } from 'node:fs'
import { migrate } from '../base/db/migrate.ts'
import { openReader } from '../base/db/reader.ts'
import type { Env } from '../base/env.ts'
import { ByteBudget } from '../base/lib/bytes/byte-budget.ts'
import { CallerLog } from '../base/lib/log/caller-log.ts'
import { type Logger, newLogger } from '../base/lib/log/logger.ts'
import { environmentProxy } from '../base/lib/net/environment-proxy.ts'
import { UpstreamAgents, type UpstreamSettings } from '../base/lib/net/http-client.ts'
import { tightenFiles } from '../base/lib/process/private-files.ts'
import { version } from '../base/lib/process/version.ts'
import { type Clock, newSteadyClock, seconds } from '../base/lib/time/clock.ts'
import { Deadlines } from '../base/lib/time/timer-wheel.ts'
import { openCore } from '../base/open-core.ts'
import type { Core } from '../base/options/core.ts'
import { AnsweredModels } from '../gateway/channels/health/answered-models.ts'
import { addChannelMetrics } from '../gateway/channels/health/channel-metrics.ts'
import { type ChannelIndex, openChannels } from '../gateway/channels/index/model-index.ts'
import { EndpointMisses } from '../gateway/channels/row/missing-endpoints.ts'
import { PromptAdditions } from '../gateway/channels/row/prompt-additions.ts'
import { Spending } from '../gateway/channels/select/spending.ts'
import { Traffic, type TrafficUpdate, usdPerCall } from '../gateway/channels/select/traffic.ts'
import { Budgets } from '../gateway/limits/budgets.ts'
import { type Counters, openCounters } from '../gateway/limits/counters.ts'
import type { RedisTiming } from '../gateway/limits/redis-windows.ts'
import { RequestLimits } from '../gateway/limits/request-limits.ts'
import { RunningDownloads } from '../gateway/limits/running-downloads.ts'
import { SearchQueue } from '../gateway/limits/search-queue.ts'
import { Moderation } from '../gateway/moderation/moderation.ts'
import { EmptyBalances } from '../gateway/relay/admission/authenticate.ts'
import { HoldShares } from '../gateway/relay/admission/hold-shares.ts'
import { PromptCounter } from '../gateway/relay/admission/prompt-counter.ts'
import { Calibration } from '../gateway/relay/admission/token-estimate.ts'
import { KeptFiles } from '../gateway/relay/conversations/kept-files.ts'
import { LocalResponses } from '../gateway/relay/conversations/local-responses.ts'
import { UpstreamResponses } from '../gateway/relay/conversations/upstream-responses.ts'
import { IdempotentRequests } from '../gateway/relay/replies/idempotent-requests.ts'
import { ReplyPieces } from '../gateway/relay/replies/reply-pieces.ts'
import { ResumableReplies } from '../gateway/relay/replies/resumable-replies.ts'
import { removeOldReplies, UndeliveredReplies } from '../gateway/relay/replies/undelivered-replies.ts'
import { SealedStates } from '../gateway/relay/response/sealed-states.ts'
import { BackgroundRuns } from '../gateway/relay/stored-responses/background-run.ts'
import { PendingResponses } from '../gateway/relay/stored-responses/pending-responses.ts'
import { AccessTokens } from '../gateway/relay/upstream/call-upstream.ts'
import { mediaLimits } from '../gateway/relay/upstream/fetch-media.ts'
import type { Ledger } from '../money/ledger/ledger.ts'
import { openLedger } from '../money/ledger/open-ledger.ts'
import { StripeCalls } from '../money/payments/stripe-calls.ts'
import { type Catalog, openCatalog } from '../money/pricing/catalog.ts'
import { openPriceBook } from '../money/pricing/price-book.ts'
import { loadShippedPrices } from '../money/pricing/price-data.ts'
import { createRoot } from '../people/accounts/create-root.ts'
import { type EndpointSettings, ProviderClient } from '../people/accounts/external-identity/endpoints.ts'
import { OidcKeys } from '../people/accounts/external-identity/oidc-keys.ts'
import { HumanCheck } from '../people/accounts/human-check.ts'
import { Passwords } from '../people/accounts/passwords.ts'
import { Sessions } from '../people/accounts/sessions.ts'
import { Mailer } from '../people/notify/mailer.ts'
import { openAuthenticator } from '../people/tokens/authenticate.ts'
import { AccessLog } from '../usage/calls/access-log.ts'
import { CallMetrics } from '../usage/calls/call-metrics.ts'
import { CallStatistics } from '../usage/calls/call-statistics.ts'
import { type CallObserver, CallObservers } from '../usage/calls/ended-calls.ts'
import { FailedCalls } from '../usage/calls/failed-calls.ts'
import { Recordings } from '../usage/recordings/recordings.ts'
import type { Telemetry } from '../usage/telemetry/open-telemetry.ts'
import { forgetNode, recordDeployment } from '../watch/jobs/note-node.ts'
import { JobRunner } from '../watch/jobs/runner.ts'
import { jobs } from '../watch/jobs/table.ts'
import type { App } from '../watch/parts.ts'
import { StatusSnapshots } from '../watch/status-page/snapshot.ts'

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

type Opened = AsyncDisposableStack

/**
 * Builds all parts in the order of the import list: the only place where parts are connected. Each part is closed with the server, or
 * when a later one cannot be opened, in the reverse order.
 */
export async function openApp(env: Env, replaced: Replaceable = {}): Promise<OpenApp> {
  const opened = new AsyncDisposableStack()
  try {
    return await openAll(opened, env, replaced)
  } catch (error) {
    // Of several errors, the one of the start tells what to do.
    await opened.disposeAsync().catch(() => {})
    throw error
  }
}

async function openAll(opened: Opened, env: Env, replaced: Replaceable): Promise<OpenApp> {
  // Loads while the database opens.
  const loadingPrices = loadShippedPrices()
  const { core, createdKey } = await openBase(opened, env, replaced)
  const upstream = opened.adopt(
    new UpstreamAgents({
      proxyOf: environmentProxy(env),
      blockPrivate: env.BLOCK_PRIVATE_UPSTREAMS,
      ...replaced.upstream,
    }),
    (agents) => agents.close(),
  )
  const usage = await openUsage(opened, core, replaced)
  const ledger = opened.adopt(await openLedger(core, replaced.commitWaitMs), (each) => each.close())
  await ledger.expire()
  const people = openPeople(opened, core, upstream, replaced)
  const prices = await openPrices(opened, core, { loading: await loadingPrices, vendors: () => channels.channels.current })
  const limits = await openLimits(opened, core, replaced)
  const channels = await openChannelParts(opened, core, { upstream, ...prices, ...limits })
  const relay = await openRelay(opened, core, { upstream, ledger, replaced })

  const app: App = {
    ...core,
    ...usage,
    ...people,
    ...prices,
    ...limits,
    ...channels,
    ...relay,
    upstream,
    ledger,
    stripe: new StripeCalls(core, upstream, replaced.stripeAddress),
    statusSnapshots: new StatusSnapshots({ ...core, ...channels, ...prices }),
    version,
    startedAt: seconds(core.now()),
    startJob: (name) => runner.startNow(name),
  }
  const root = await createRoot(app)
  await recordDeployment(core, version)
  // After the last job, which reports the node. A database that is away has no list to show.
  opened.defer(() => forgetNode(core).catch(() => {}))
  const runner = opened.adopt(new JobRunner(app, jobs), (each) => each.stop())
  return { app, createdKey, root, startJobs: () => runner.start(), close: () => opened.disposeAsync() }
}

async function openBase(opened: Opened, env: Env, replaced: Replaceable) {
  const logger = replaced.logger ?? newLogger(env.LOG_LEVEL)
  if (existsSync(env.DATA_DIR))
    tightenFiles(env.DATA_DIR, (file, error) =>
      logger.error({ file, error }, 'other users of this machine can read a file of the server: its mode cannot be changed'),
    )
  return opened.adopt(
    await openCore(env, {
      now: replaced.now ?? Date.now,
      steady: replaced.steady ?? replaced.now ?? newSteadyClock(),
      logger,
      databaseWaitMs,
      prepare: (database) =>
        migrate(database, { tell: (migration) => logger.info({ migration }, 'the database is brought up to date') }),
    }),
    (core) => core.close(),
  )
}

/** Records of calls, and long reads of them. */
async function openUsage(opened: Opened, core: Core, replaced: Replaceable) {
  const { env, logger, now } = core
  const reader = opened.adopt(await openReader(core.database), (each) => each.close())
  const failedCalls = opened.adopt(new FailedCalls(core), (each) => each.close())
  const recordings = opened.adopt(new Recordings(core), (each) => each.close())
  await recordings.rules.refresh()
  const callStatistics = opened.adopt(new CallStatistics(core), (each) => each.close())
  const observers: CallObserver[] = [failedCalls, new CallMetrics(core), callStatistics, ...(replaced.callObservers ?? [])]
  if (env.ACCESS_LOG !== '') observers.push(opened.adopt(new AccessLog(core, env.ACCESS_LOG), (log) => log.close()))
  const telemetry = await telemetryOf(core)
  if (telemetry) observers.push(...opened.adopt(telemetry, (each) => each.close()).observers)
  return {
    callerLog: new CallerLog(logger, now),
    callObservers: new CallObservers(observers, logger),
    callTracer: telemetry?.tracer,
    callStatistics,
    failedCalls,
    recordings,
    reader,
    searches: new SearchQueue(reader),
    downloads: new RunningDownloads(),
  }
}

/** Accounts, tokens and mail. */
function openPeople(opened: Opened, core: Core, upstream: UpstreamAgents, replaced: Replaceable) {
  const providers = new ProviderClient(core, upstream, replaced.identityProviders)
  return {
    mailer: opened.adopt(new Mailer(core, { certificates: replaced.mailCertificates }), (mailer) => mailer.close()),
    passwords: replaced.passwords ?? new Passwords(),
    sessions: opened.adopt(new Sessions(core), (sessions) => sessions.close()),
    human: new HumanCheck(core, upstream, replaced.humanVerifier),
    identity: { providers, oidcKeys: new OidcKeys(core, providers) },
    authenticator: opened.adopt(openAuthenticator(core), (authenticator) => authenticator.close()),
  }
}

/** Prices of models. `loading`: those that are shipped; `vendors`: the channels, which are opened later. */
async function openPrices(
  opened: Opened,
  core: Core,
  { loading, vendors }: { loading: Awaited<ReturnType<typeof loadShippedPrices>>; vendors: () => ChannelIndex },
) {
  const priceBook = opened.adopt(await openPriceBook(core, loading), (book) => book.close())
  return { priceBook, catalog: openCatalog(core, { data: () => priceBook.current, vendors }) }
}

/** Rate limits, budgets and listed words. */
async function openLimits(opened: Opened, core: Core, replaced: Replaceable) {
  const counters = opened.adopt(await openCounters(core, replaced.redisTiming), (each) => each.close())
  return {
    counters,
    limits: new RequestLimits(core, counters),
    budgets: await Budgets.open(core),
    moderation: opened.adopt(new Moderation(core), (moderation) => moderation.close()),
  }
}

/** Channels and what this node measures of them. */
async function openChannelParts(
  opened: Opened,
  core: Core,
  { upstream, catalog, counters }: { upstream: UpstreamAgents; catalog: Catalog; counters: Counters },
) {
  const { siblings, steady } = core
  const spending = new Spending(core)
  const traffic = new Traffic({
    now: steady,
    shared: counters.shared,
    announce: siblings && ((update) => siblings.announce('traffic', update)),
    priceOf: (model) => usdPerCall(catalog.modelPriceOf(model)),
    spentToday: (id) => spending.today(id),
  })
  siblings?.onAnnounced<TrafficUpdate>('traffic', (update) => traffic.receive(update))
  const channels = opened.adopt(
    await openChannels(core, {
      forget(id) {
        upstream.forget(id)
        traffic.forgive(channels.current.keysOf(id))
      },
    }),
    (each) => each.close(),
  )
  await spending.refresh(channels.current)
  addChannelMetrics(core.metrics, channels, traffic)
  return {
    channels,
    spending,
    traffic,
    endpointMisses: new EndpointMisses(),
    promptAdditions: new PromptAdditions(core),
    answeredModels: opened.adopt(new AnsweredModels(core), (models) => models.flush()),
  }
}

/** What the relay owns. */
async function openRelay(
  opened: Opened,
  core: Core,
  { upstream, ledger, replaced }: { upstream: UpstreamAgents; ledger: Ledger; replaced: Replaceable },
) {
  await removeOldReplies(core)
  const deadlines = new Deadlines(replaced.active)
  const pieces = new ReplyPieces(core)
  const undelivered = opened.adopt(new UndeliveredReplies(core, ledger), (replies) => replies.close())
  return {
    deadlines,
    mediaMemory: new ByteBudget(mediaLimits),
    accessTokens: new AccessTokens(upstream, core.now),
    emptyBalances: new EmptyBalances(),
    calibration: new Calibration(),
    holdShares: new HoldShares(core.steady),
    promptCounter: opened.adopt(new PromptCounter(), (counter) => counter.close()),
    sealedStates: new SealedStates(core),
    upstreamResponses: new UpstreamResponses(core),
    localResponses: new LocalResponses(core, ledger),
    keptFiles: new KeptFiles(core),
    pendingResponses: new PendingResponses(core, ledger),
    backgroundRuns: new BackgroundRuns(),
    idempotentRequests: opened.adopt(
      new IdempotentRequests(core, { ledger, pieces, isKept: (requestId) => undelivered.has(requestId) }),
      (requests) => requests.close(),
    ),
    keyedCalls: new Map(),
    undelivered,
    replyPieces: pieces,
    resumableReplies: opened.adopt(new ResumableReplies(core, deadlines, pieces), (replies) => replies.close()),
  }
}

/** Its packages are loaded only if a collector is configured. */
async function telemetryOf(core: Core): Promise<Telemetry | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: isDisabled } = core.env
  if (endpoint === '' || isDisabled) return undefined
  const { openTelemetry } = await import('../usage/telemetry/open-telemetry.ts')
  return openTelemetry(core)
}
