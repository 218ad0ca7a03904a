import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { languageOf } from '../../../contract/text.ts'
import { AppError } from '../../base/lib/failure.ts'
import type { ClientReader } from '../../base/lib/net/client-address.ts'
import { newRequestId } from '../../base/lib/secrets/ids.ts'
import type { Core } from '../../base/options/core.ts'
import { HttpAnswer } from '../../gateway/relay/http/answer.ts'
import { ClientExchange } from '../../gateway/relay/http/client-exchange.ts'
import { findEndpoint } from '../../gateway/relay/http/endpoints.ts'
import { operatorPaths } from './health.ts'
import { commonHeaders, dataHeaders } from './security-headers.ts'

/**
 * BASE_PATH: everything of the site is below a path of its host. The path is taken off in front of all routers, so that none of them knows
 * it; what names an address of the site to others adds it again: cookies, the page of the console, and the server address of the options.
 */
interface BasePath {
  /** Takes the base path off the URL of a request; false when the URL is not below it, and then it stays as it is. */
  enter(request: IncomingMessage): boolean
  /** Answers a request that is not below the base path. */
  refuse: RequestListener
}

/** Undefined without a base path: then requests are not looked at. */
export function openBasePath(core: Core, readClient: ClientReader): BasePath | undefined {
  const { BASE_PATH: basePath } = core.env
  return basePath === ''
    ? undefined
    : {
        enter: (request) => enter(basePath, request),
        refuse: (request, response) => refuse(core, { request, response, client: readClient(request) }),
      }
}

function enter(basePath: string, request: IncomingMessage): boolean {
  const { url = '/' } = request
  const after = url[basePath.length]
  if (url.startsWith(basePath) && (after === undefined || after === '/' || after === '?')) {
    const rest = url.slice(basePath.length)
    request.url = rest.startsWith('/') ? rest : `/${rest}`
    return true
  }
  return operatorPaths.has(pathOf(url))
}

interface Refused {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly client: ReturnType<ClientReader>
}

/** A person gets a sentence or, at the root of the host, the console; a program gets the error that its SDK reads. */
function refuse({ env, options, now, steady }: Core, { request, response, client }: Refused): void {
  const { method = 'GET', url = '/', headers } = request
  const error = new AppError('outside_base_path', { base: `${env.BASE_PATH}/`, path: pathOf(url) })
  const isPerson = (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true
  const common = { ...commonHeaders(options.current), ...dataHeaders }
  if (isPerson && pathOf(url) === '/') {
    response.writeHead(302, { ...common, location: `${env.BASE_PATH}/` }).end()
    return
  }
  const language = languageOf(headers['accept-language'])
  if (isPerson) {
    response.writeHead(404, { ...common, 'content-type': 'text/plain; charset=utf-8' }).end(error.text(language))
    return
  }
  const { dialect } = findEndpoint(method, url, headers)
  const facts = { id: newRequestId(now()), dialect, language: 'en', client, startedMs: steady(), request } as const
  new ClientExchange(new HttpAnswer(request, response), facts).sendError(error)
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}
