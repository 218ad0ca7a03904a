import type { Ledger } from '../../money/ledger/ledger.ts'
import type { EmptyBalances } from './admission/authenticate.ts'
import type { HoldShares } from './admission/hold-shares.ts'
import type { PromptCounter } from './admission/prompt-counter.ts'
import type { Calibration } from './admission/token-estimate.ts'
import type { ConversationParts } from './conversations/history.ts'
import type { GatewayParts } from './gateway-parts.ts'
import type { IdempotentRequests, KeyedCalls } from './replies/idempotent-requests.ts'
import type { ReplyPieces } from './replies/reply-pieces.ts'
import type { ResumableReplies } from './replies/resumable-replies.ts'
import type { UndeliveredReplies } from './replies/undelivered-replies.ts'
import type { SealedStates } from './response/sealed-states.ts'
import type { BackgroundRuns } from './stored-responses/background-run.ts'
import type { PendingResponses } from './stored-responses/pending-responses.ts'
import type { AccessTokens } from './upstream/call-upstream.ts'

/** All parts of the server that the relay uses. Its rooms take those that they own or that come before them. */
export interface RelayParts extends GatewayParts, ConversationParts {
  /** Whole, for the refund of a task; calls use the face of `CallLedger`. */
  readonly ledger: Ledger
  readonly emptyBalances: EmptyBalances
  readonly holdShares: HoldShares
  readonly promptCounter: PromptCounter
  readonly calibration: Calibration
  readonly accessTokens: AccessTokens
  readonly sealedStates: SealedStates
  readonly pendingResponses: PendingResponses
  readonly backgroundRuns: BackgroundRuns
  readonly idempotentRequests: IdempotentRequests
  readonly keyedCalls: KeyedCalls
  readonly undelivered: UndeliveredReplies
  readonly resumableReplies: ResumableReplies
  readonly replyPieces: ReplyPieces
}
