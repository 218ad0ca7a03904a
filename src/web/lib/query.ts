import { QueryCache, QueryClient, queryOptions, type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import type { Sent } from '../../contract/route.ts'
import type { AllRoutes, Line } from '../../contract/routes/index.ts'
import { ApiError, type CallInput, type CallReply, call } from './call.ts'
import { noteOrganisations } from './session.ts'
import { toast } from './toast.ts'

/** Server data. A query is named by its line and input, so a write can say by line which lists it makes stale. */

export type ReadLine = Extract<Line, `GET ${string}`>

/** A request is repeated once when the server could not be reached or was unavailable for a moment. */
function mayRetry(failures: number, cause: Error): boolean {
  return failures < 1 && cause instanceof ApiError && (cause.status === 0 || cause.status >= 502)
}

/** The own account says what there is of organisations, which may have changed since the login. */
function noteSelf(data: unknown, { queryKey: [line] }: { queryKey: readonly unknown[] }): void {
  // The query of this line has the line's reply.
  if (line === 'GET /api/user/self') noteOrganisations((data as CallReply<'GET /api/user/self'>).organisations)
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: toast.failure, onSuccess: noteSelf }),
  defaultOptions: { queries: { staleTime: 10_000, retry: mayRetry, refetchOnWindowFocus: false } },
})

/** `useQuery(read('GET /api/token/', { query: { p: 0 } }))` */
export function read<L extends ReadLine>(line: L, ...[input]: CallInput<L>) {
  return queryOptions<CallReply<L>>({
    queryKey: [line, input ?? {}],
    queryFn: ({ signal }) => {
      // The input is the line's own; only the abort signal joins it.
      const complete = [{ ...input, signal }] as unknown as CallInput<L>
      return call(line, ...complete)
    },
  })
}

export function invalidate(client: QueryClient, lines: readonly ReadLine[]): Promise<unknown> {
  return Promise.all(lines.map((line) => client.invalidateQueries({ queryKey: [line] })))
}

interface WriteOptions<L extends Line> {
  /** Lines whose data this write makes stale. */
  readonly invalidates?: readonly ReadLine[]
  /** The message after a success. */
  readonly success?: string | ((data: CallReply<L>, sent: Sent<AllRoutes[L]>) => string)
  readonly onSuccess?: (data: CallReply<L>, sent: Sent<AllRoutes[L]>) => void
  /** Shown before the reason of a failure, if it is not evident what failed. */
  readonly failure?: string
  /** Called before the failure is shown; `true` means that it is shown elsewhere, such as at a field. */
  readonly onFailure?: (cause: unknown) => boolean | undefined
}

/** A write: `const save = useWrite('POST /api/token/', { invalidates: ['GET /api/token/'], success: say('saved') })`, then `save.mutate({ body })`. */
export function useWrite<L extends Line>(
  line: L,
  options: WriteOptions<L> = {},
): UseMutationResult<CallReply<L>, Error, Sent<AllRoutes[L]>> {
  const client = useQueryClient()
  return useMutation({
    // Optional parts may be passed, so one complete input is valid for every line.
    mutationFn: (sent: Sent<AllRoutes[L]>) => call(line, ...([sent] as unknown as CallInput<L>)),
    onSuccess: async (data, sent) => {
      const { success } = options
      if (success !== undefined) toast.success(typeof success === 'string' ? success : success(data, sent))
      options.onSuccess?.(data, sent)
      await invalidate(client, options.invalidates ?? [])
    },
    onError: (cause) => {
      if (options.onFailure?.(cause) === true) return
      if (options.failure === undefined) toast.failure(cause)
      else toast.failureOf(options.failure, cause)
    },
  })
}
