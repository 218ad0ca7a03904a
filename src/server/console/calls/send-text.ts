import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Route } from '../../../contract/route.ts'
import type { App } from '../../watch/parts.ts'
import { organisationOf } from './authorize-organisation.ts'
import { requireCallerOf } from './authorize-route.ts'

const askAgainMs = 1000
/** The time without a read after which a client counts as stalled: longer than the longest query, during which no data is sent. */
const stalledMs = 120_000

/**
 * Sends a text in the pieces that its handler makes, with back-pressure. It is aborted when the caller loses the permission, as by a
 * ban, a demotion or the end of a membership, and when the reader stalls for long, so that neither occupies a connection.
 */
export function sendText(
  app: App,
  { line, route, text, request, reply }: Asked & { text: NonNullable<Route['text']>; reply: FastifyReply },
  pieces: AsyncIterable<string>,
): FastifyReply {
  const { type, fileName, isEmbedded } = text
  if (isEmbedded) reply.header('cross-origin-resource-policy', 'cross-origin')
  if (fileName !== undefined) reply.header('content-disposition', `attachment; filename="${fileName}"`)
  const sent = Readable.from(pieces)
  if (route.access !== 'public') breakOffWithAdmission(app, { line, route, request }, sent)
  reply.raw.setTimeout(stalledMs, () => reply.raw.destroy())
  return reply.type(`${type}; charset=utf-8`).send(sent)
}

interface Asked {
  readonly line: string
  readonly route: Route
  readonly request: FastifyRequest
}

function breakOffWithAdmission(app: App, asked: Asked, sent: Readable): void {
  const requireAdmission = async () => {
    const { account } = await requireCallerOf(app, asked.route, asked.request)
    await organisationOf(app, asked, account)
  }
  const ask = () => requireAdmission().catch((error: Error) => void sent.destroy(error))
  const timer = setInterval(ask, askAgainMs)
  sent.once('close', () => clearInterval(timer))
}
