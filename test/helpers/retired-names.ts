/**
 * Names that were replaced by the established terms of `docs/reference/glossary.md` and must not return. Each folder of `src` has its
 * own list; extend the list of the folder whose names change. A name may stay in use elsewhere: `scope` is the folder that must not
 * declare it.
 */
export interface RetiredNames {
  readonly scope: string
  /** File and folder names without their ending. */
  readonly files: readonly string[]
  /** Exported functions, constants, classes and types. */
  readonly exports: readonly string[]
}

export const retiredNames: readonly RetiredNames[] = [
  {
    scope: 'src/server/lib',
    files: ['gate', 'close-behind', 'close-gently', 'awake', 'kept-connection', 'loop-turns', 'unless-aborted', 'hide-secrets'],
    exports: [
      'Gate',
      'closeBehindAnswer',
      'closeGently',
      'AwakeClock',
      'awakeMs',
      'stillMs',
      'afterAwake',
      'withinAwake',
      'wasClosedUnread',
      'loopTurn',
      'furtherTurn',
      'unlessAborted',
      'forgetEnvironment',
    ],
  },
  {
    scope: 'src/server/db',
    files: ['promptly', 'read-together'],
    exports: ['NoAnswer', 'promptly', 'readTogether', 'PatientQueries', 'PatientSqliteDriver'],
  },
  {
    scope: 'src/server/limits',
    files: ['turn', 'searches', 'console-requests'],
    exports: [
      'Turn',
      'TurnFacts',
      'TurnNeed',
      'Standing',
      'SearchTurns',
      'ConsoleRequests',
      'Taken',
      'Ended',
      'Need',
      'LeaseNeed',
      'tokensWanted',
    ],
  },
  {
    scope: 'src/server/channels',
    files: [
      'place',
      'own-body',
      'own-address',
      'lacking',
      'tell-disabled',
      'tell-implausible',
      'tell-super-admins',
      'channel-used',
      'fix',
      'values',
    ],
    exports: [
      'Place',
      'Asking',
      'ownMembers',
      'hasOwnWords',
      'ownHeaders',
      'requireOtherSite',
      'Bidder',
      'standsHigher',
      'Lacking',
      'lackableEndpoint',
      'learnLacking',
      'forgetLacking',
      'SeenFailure',
      'tellDisabledChannels',
      'tellImplausibleUsage',
      'tellSuperAdmins',
      'channelUsed',
      'fixChannels',
      'cut',
      'Finding',
    ],
  },
  {
    scope: 'src/server/jobs',
    files: ['tell-disabled-channels', 'tell-implausible-usage', 'forget-lacking', 'purge-kept-responses'],
    exports: ['tellOfDisabledChannels', 'tellOfImplausibleUsage', 'forgetLackingEndpoints', 'purgeKeptResponses'],
  },
  {
    scope: 'src/server/usage',
    files: ['cells', 'fold', 'folded'],
    exports: ['Cell', 'cellsInOrder', 'payersSince', 'foldUsage', 'foldedUntil', 'sideOf', 'sideColumns', 'askForPurge'],
  },
  { scope: 'src/server/moderation', files: ['fold'], exports: ['foldText'] },
  {
    scope: 'src/server/accounts',
    files: [
      'outside',
      'come-back',
      'visit',
      'join',
      'peers',
      'offered',
      'enter',
      'leave',
      'ways-in',
      'gifts',
      'tell-owner',
      'step-up',
      'self',
      'names',
    ],
    exports: [
      'bindOutside',
      'unbindOutside',
      'isOffered',
      'requireOffered',
      'startVisit',
      'ComeBack',
      'comeBack',
      'Comer',
      'enterByOutside',
      'Peers',
      'PeerAddresses',
      'OutsideParts',
      'OutsideAccounts',
      'Visit',
      'VisitedWay',
      'Arrival',
      'enter',
      'enterWithCode',
      'deleteSelf',
      'lockOwn',
      'requireWayIn',
      'giveWelcome',
      'tellOwner',
      'requireOwnOrigin',
      'requireFresh',
      'proveAgain',
      'tellUser',
      'Notifying',
      'forgive',
      'keepStep',
      'takeStep',
      'dropSteps',
      'spendOnce',
      'keepCode',
      'spendCode',
      'dropCodes',
      'Solved',
    ],
  },
  {
    scope: 'src/server/protocols',
    files: ['error-words', 'count-around', 'called', 'mend-embeddings'],
    exports: [
      'inWordsOf',
      'untold',
      'toldCount',
      'mendEmbeddings',
      'Telling',
      'toldUse',
      'goOn',
      'PastUse',
      'calledText',
      'answeredText',
      'SaidPiece',
      'Called',
      'calledIn',
      'wordFor',
      'secondStart',
      'countAround',
      'DirectAsk',
      'EmbeddingAsk',
      'ImageAsk',
      'readImageAsk',
      'AskedFormat',
      'KeptAs',
      'beganByUser',
    ],
  },
  { scope: 'src/server/providers', files: [], exports: ['askForFloats', 'askWithTexts', 'without'] },
  {
    scope: 'src/server/wallet',
    files: ['take-stripe-event'],
    exports: ['isAway', 'creditedNow', 'takeReport', 'paidByReport', 'paidBySession', 'takeStripeEvent', 'repeatedTwice'],
  },
  { scope: 'src/server/tokens', files: ['known-tokens'], exports: ['Owned', 'KnownTokens'] },
  {
    scope: 'src/server/tasks',
    files: ['news', 'admit-order', 'one-at-a-time', 'tell', 'at-upstream', 'repeated'],
    exports: [
      'News',
      'readNews',
      'newsById',
      'Admitted',
      'admitOrder',
      'oneAtATime',
      'TaskQuestion',
      'askUpstream',
      'askList',
      'aloneWithTask',
      'takeNotice',
      'takeTask',
      'dropTask',
    ],
  },
  {
    scope: 'src/server/console',
    files: ['searching', 'outside', 'admit'],
    exports: ['searching', 'reading', 'outsideHandlers', 'Gate', 'Admitted', 'admit'],
  },
  {
    scope: 'src/server/relay',
    files: [
      'lane',
      'socket-lane',
      'tap',
      'passage',
      'other-form',
      'said-text',
      'second-try',
      'threads',
      'own-history',
      'own-responses',
      'own-stream',
      'own-response-calls',
      'kept-responses',
      'open-responses',
      'keep-answer',
      'note-response',
      'open-work',
      'identify',
      'route',
      'work',
    ],
    exports: [
      'admit',
      'Work',
      'Route',
      'Tap',
      'StreamTap',
      'Passage',
      'Came',
      'SaidText',
      'OwnResponses',
      'KeptResponses',
      'OpenResponses',
      'openWork',
      'answerWork',
      'keepAnswer',
      'relayLane',
      'socketLane',
      'Call',
      'Exchange',
      'SocketExchange',
      'ConvertedExchange',
      'Door',
    ],
  },
  {
    scope: 'src/web',
    files: [
      'outside-icons',
      'visit',
      'come-back',
      'kept-focus',
      'focus-back',
      'proof',
      'prove-again',
      'prove-again-dialog',
      'acts',
      'bulk-acts',
      'act-dialog',
      'act',
      'kept-types',
      'use-pointed-at',
      'use-focus-back',
    ],
    exports: [
      'OutsideIcon',
      'useOutsideNames',
      'visitProvider',
      'keepFocus',
      'useFocusBack',
      'onProofRequired',
      'proveAgain',
      'askForProof',
      'ProveAgain',
      'ProveAgainDialog',
      'Act',
      'actIcon',
      'actsFor',
      'isEnableBarred',
      'useBulkActs',
      'ActDialog',
      'TurnActs',
      'keptTypes',
      'usePointedAt',
      'TabNews',
      'wantToasts',
      'knowsPasskeys',
      'makePasskey',
      'takePasskey',
      'isHeldPicture',
      'Shelf',
    ],
  },
  {
    scope: 'src/contract',
    files: ['outside', 'outside-account'],
    exports: [
      'lackableEndpoints',
      'LackableEndpoint',
      'outsideProviders',
      'OutsideProvider',
      'visitedProviders',
      'VisitedProvider',
      'outsideNames',
      'outsideRoutes',
      'says',
    ],
  },
]

interface Source {
  readonly path: string
  readonly text: string
}

const declaration =
  /^\s*(?:export\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:class|interface|type|function\*?|const|let|enum)\s+(\w+)/
const listedExport = /^export\s+(?:type\s+)?\{([^}]*)\}/gm

/** Exported names that a file declares, or that it re-exports under another name. */
export function exportedNames(text: string): string[] {
  const declared = text.split('\n').flatMap((line) => (line.startsWith('export ') ? (declaration.exec(line)?.[1] ?? []) : []))
  const listed = [...text.matchAll(listedExport)].flatMap(([, names = '']) =>
    names.split(',').flatMap((name) => name.trim().split(/\s+/).at(-1) || []),
  )
  return [...declared, ...listed]
}

/** One line for each retired name that a source file still has or declares. */
export function retiredIn(sources: readonly Source[], lists: readonly RetiredNames[] = retiredNames): string[] {
  return lists.flatMap(({ scope, files, exports }) =>
    sources
      .filter(({ path }) => path.startsWith(`${scope}/`))
      .flatMap(({ path, text }) => {
        const parts = path.slice(scope.length + 1).split('/')
        const names = parts.map((part) => part.replace(/(\.test)?\.tsx?$/, ''))
        return [
          ...files.filter((file) => names.includes(file)).map((file) => `${path}: the file name ${file} is retired`),
          ...exportedNames(text)
            .filter((name) => exports.includes(name))
            .map((name) => `${path}: the exported name ${name} is retired`),
        ]
      }),
  )
}
