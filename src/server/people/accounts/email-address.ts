import { domainToASCII } from 'node:url'
import { commaListOf } from '../../../contract/options/lists.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Core } from '../../base/options/core.ts'

/** The greatest length that the login form accepts. */
const lengthMax = 100
const localLengthMax = 64
/** An atom of RFC 5322: no quotes, no spaces, nothing that could be read as more than one address. */
const localForm = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const domainForm = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+([a-z]{2,63}|xn--[a-z0-9-]{1,59})$/

/**
 * The canonical form of an address for storing, comparing and mailing: lower case, domain in ASCII. Undefined for anything that is not
 * exactly one plain address.
 */
export function canonicalEmail(text: string): string | undefined {
  const given = text.trim().toLowerCase()
  const at = given.lastIndexOf('@')
  const local = given.slice(0, at)
  const domain = canonicalDomain(given.slice(at + 1))
  const address = `${local}@${domain}`
  const isGood = local.length <= localLengthMax && address.length <= lengthMax && localForm.test(local) && domainForm.test(domain)
  return isGood ? address : undefined
}

/** Throws `email_invalid`, or `email_domain_refused` and `email_alias_refused` where the options require it. */
export function readEmail({ options }: Pick<Core, 'options'>, text: string): string {
  const email = canonicalEmail(text) ?? fail('email_invalid')
  const { EmailDomainRestrictionEnabled, EmailDomainWhitelist, EmailAliasRestrictionEnabled } = options.current
  const [local = '', domain = ''] = email.split('@')

  const allowed = commaListOf(EmailDomainWhitelist).map(canonicalDomain)
  if (EmailDomainRestrictionEnabled && !allowed.includes(domain)) fail('email_domain_refused')
  if (EmailAliasRestrictionEnabled && /[+.]/.test(local)) fail('email_alias_refused')
  return email
}

/** The canonical form of a mail domain; undefined for anything else. */
export function mailDomain(text: string): string | undefined {
  const domain = canonicalDomain(text.trim())
  return domainForm.test(domain) ? domain : undefined
}

/** The domain in ASCII, or '' when it is invalid. Names that only look alike stay different. */
function canonicalDomain(text: string): string {
  return /[\s/?#@:\\[\]%]/.test(text) ? '' : domainToASCII(text.toLowerCase())
}
