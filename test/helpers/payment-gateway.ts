import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

type Fields = Record<string, string>

/** The gateway's own reading of the epay signature, apart from the server's. */
export function signed(fields: Fields, key: string): Fields {
  const names = Object.keys(fields).filter((name) => fields[name] !== '' && !['sign', 'sign_type'].includes(name))
  const text = names.toSorted().map((name) => `${name}=${fields[name]}`)
  const sign = createHash('md5')
    .update(`${text.join('&')}${key}`)
    .digest('hex')
  return { ...fields, sign, sign_type: 'MD5' }
}

/** What the gateway reports of a paid form; `more` replaces fields before it is signed. */
export function reportOf(form: Fields, key: string, more: Fields = {}): Fields {
  const { pid = '', type = '', out_trade_no = '', name = '', money = '' } = form
  const report = { pid, type, out_trade_no, name, money, trade_no: '2026100100001', trade_status: 'TRADE_SUCCESS', ...more }
  return signed(report, key)
}

/** A payment gateway on loopback where every posted form is paid at once: it checks the signature and reports to the `notify_url`. */
export async function startGateway(key: string) {
  const answers: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const form = Object.fromEntries(new URLSearchParams(body))
    const isOurs = request.method === 'POST' && request.url === '/submit.php' && signed(form, key).sign === form.sign
    if (!isOurs) return response.writeHead(400).end('sign error')
    const report = await fetch(`${form.notify_url}?${new URLSearchParams(reportOf(form, key))}`)
    answers.push(await report.text())
    response.writeHead(302, { location: form.return_url }).end()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  // A server that listens on TCP has an address of this form.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answers }
}
