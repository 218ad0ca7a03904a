import { expect, it } from 'vitest'
import type { Access, Routes } from '../src/contract/route.ts'
import { allRoutes } from '../src/contract/routes/index.ts'

/**
 * Who may call what, as it was reviewed: by the first part of the path, with the calls that differ from it. A route under a new path, and
 * one that asks for less or more than its path does, fails until it has a line here. What each kind of caller is answered is in
 * `access.test.ts`.
 */
const byPath: Readonly<Record<string, Access>> = {
  audit: 'root',
  channel: 'admin',
  data: 'admin',
  group: 'admin',
  job: 'admin',
  log: 'admin',
  mj: 'admin',
  oauth: 'public',
  option: 'admin',
  pricing: 'admin',
  redemption: 'admin',
  system: 'admin',
  task: 'admin',
  token: 'user',
  topup: 'admin',
  user: 'user',
}

/** What is open to others than its path says, line by line. */
const differing: Readonly<Record<string, Access>> = {
  'DELETE /api/user/:id': 'admin',
  'GET /api/status/test': 'admin',
  'GET /api/user/': 'admin',
  'GET /api/user/:id': 'admin',
  'GET /api/user/export.csv': 'admin',
  'GET /api/user/search': 'admin',
  'POST /api/user/': 'admin',
  'POST /api/user/:id/quota': 'admin',
  'POST /api/user/batch': 'admin',
  'POST /api/user/manage': 'admin',
  'PUT /api/user/': 'admin',
  'GET /api/about': 'public',
  'GET /api/home_page_content': 'public',
  'GET /api/notice': 'public',
  'GET /api/pricing': 'public',
  'GET /api/reset_password': 'public',
  'GET /api/status': 'public',
  'GET /api/user/epay/notify': 'public',
  'GET /api/user/groups': 'public',
  'GET /api/user/logout': 'public',
  'GET /api/verification': 'public',
  'POST /api/reset_password': 'public',
  'POST /api/stripe/webhook': 'public',
  'POST /api/user/epay/notify': 'public',
  'POST /api/user/login': 'public',
  'POST /api/user/login/passkey': 'public',
  'POST /api/user/login/passkey/options': 'public',
  'POST /api/user/login/second': 'public',
  'POST /api/user/logout': 'public',
  'POST /api/user/register': 'public',
  'POST /api/user/reset': 'public',
  'POST /api/verification': 'public',
  'POST /api/option/test_mail': 'root',
  'GET /api/data/self': 'user',
  'GET /api/data/self/sums': 'user',
  'GET /api/log/self': 'user',
  'GET /api/log/self/export.csv': 'user',
  'GET /api/log/self/export.jsonl': 'user',
  'GET /api/log/self/search': 'user',
  'GET /api/log/self/stat': 'user',
  'GET /api/mj/self': 'user',
  'GET /api/mj/self/export.csv': 'user',
  'GET /api/models': 'user',
  'GET /api/oauth/email/bind': 'user',
  'GET /api/oauth/telegram/bind': 'user',
  'GET /api/oauth/wechat/bind': 'user',
  'GET /api/task/self': 'user',
  'GET /api/task/self/export.csv': 'user',
  'POST /api/oauth/email/bind': 'user',
  'POST /api/oauth/telegram/bind': 'user',
  'POST /api/oauth/wechat/bind': 'user',
}

it('[T049] every route asks for what was reviewed, and no route is without a review', () => {
  const wrong = Object.entries(allRoutes as Routes).flatMap(([line, { access }]) => {
    const reviewed = reviewedAccess(line)
    return reviewed === access ? [] : [`${line} is ${access}, reviewed: ${reviewed ?? 'never'}`]
  })
  expect(wrong).toEqual([])
})

it('no review is left of a route that has gone', () => {
  const lines = Object.keys(allRoutes)
  expect(Object.keys(differing).filter((line) => !lines.includes(line))).toEqual([])
})

function reviewedAccess(line: string): Access | undefined {
  const own = differing[line]
  const part = /^\w+ \/api\/([\w.-]+)/.exec(line)?.[1] ?? ''
  return own ?? byPath[part]
}
