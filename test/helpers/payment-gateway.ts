import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { closing, listening } from './listening.ts'

type Fields = Record<string, string>

/** The gateway's implementation of the epay signature, independent of the server's. */
export function signed(fields: Fields, key: string): Fields {
  const names = Object.keys(fields).filter((name) => fields[name] !== '' && !['sign', 'sign_type'].includes(name))
  const text = names.toSorted().map((name) => `${name}=${fields[name]}`)
  const sign = createHash('md5')
    .update(`${text.join('&')}${key}`)
    .digest('hex')
  return { ...fields, sign, sign_type: 'MD5' }
}

/** The gateway's report of a paid form; `more` replaces fields before it is signed. */
export function reportOf(form: Fields, key: string, more: Fields = {}): Fields {
  const { pid = '', type = '', out_trade_no = '', name = '', money = '' } = form
  const report = { pid, type, out_trade_no, name, money, trade_no: '2026100100001', trade_status: 'TRADE_SUCCESS', ...more }
  return signed(report, key)
}

/** An epay gateway on loopback. */
export interface Gateway {
  readonly url: string
  /** The server's reply to each report. */
  readonly answers: string[]
  /** The forms of paid orders, by order number. */
  readonly paid: ReadonlyMap<string, Fields>
  /** Whether a paid form is reported at once, and how. */
  reports: 'GET' | 'POST' | 'never'
  close(): Promise<void>
}

/**
 * A gateway where every form is paid immediately: it checks the signature, reports to the `notify_url` and redirects to the
 * `return_url` with the report, as gateways do. Queried by `api.php`, it returns the payment.
 */
export async function startGateway(key: string): Promise<Gateway> {
  const answers: string[] = []
  const paid = new Map<string, Fields>()
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://gateway')
    const query = Object.fromEntries(url.searchParams)
    if (url.pathname === '/api.php') {
      const form = paid.get(query.out_trade_no ?? '')
      const isKnown = query.act === 'order' && query.key === key && form?.pid === query.pid
      return response.end(JSON.stringify(isKnown && form ? { code: 1, status: 1, ...reportOf(form, key) } : { code: -1 }))
    }

    const form: Fields = { ...query, ...Object.fromEntries(new URLSearchParams(await bodyOf(request))) }
    if (url.pathname !== '/submit.php' || signed(form, key).sign !== form.sign) return response.writeHead(400).end('sign error')
    paid.set(form.out_trade_no ?? '', form)
    const report = new URLSearchParams(reportOf(form, key))
    if (gateway.reports !== 'never') answers.push(await send(form.notify_url ?? '', report, gateway.reports))
    response.writeHead(302, { location: `${form.return_url}?${report}` }).end()
  })
  const gateway: Gateway = { url: await listening(server), answers, paid, reports: 'GET', close: () => closing(server) }
  return gateway
}

async function send(url: string, report: URLSearchParams, method: 'GET' | 'POST'): Promise<string> {
  const response = method === 'GET' ? await fetch(`${url}?${report}`) : await fetch(url, { method, body: report })
  return response.text()
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += chunk
  return body
}
