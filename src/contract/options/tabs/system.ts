import { emailDomains, smtp } from '../email.ts'
import { github, linuxdo, login, oidc, telegram, turnstile, wechat } from '../login.ts'
import { payment, stripe } from '../payment.ts'
import { server, worker } from '../server.ts'

export const sections = [
  server,
  worker,
  payment,
  stripe,
  login,
  emailDomains,
  smtp,
  github,
  wechat,
  telegram,
  turnstile,
  linuxdo,
  oidc,
] as const
