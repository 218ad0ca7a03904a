import { fail } from '../../lib/failure.ts'
import { basicAuth, numericId, requireText, textOf } from './profile.ts'
import { codeForm, type VisitedWay, visitQuery, withQuery } from './visit.ts'

/** Matched by the numeric id. Accounts that the forum has closed are no proof of anybody. */
export const linuxdo: VisitedWay = {
  async authorizeUrl({ options, outside }, visit) {
    return withQuery(outside.peers.addresses.linuxdo.authorize, visitQuery(options.current.LinuxDOClientId, visit))
  },

  async identify({ options, outside: { peers } }, given) {
    const { LinuxDOClientId: id, LinuxDOClientSecret: secret } = options.current
    const answer = await peers.ask({
      url: peers.addresses.linuxdo.token,
      headers: { authorization: basicAuth(id, secret) },
      form: codeForm(given),
    })
    const user = await peers.ask({
      url: peers.addresses.linuxdo.user,
      headers: { authorization: `Bearer ${requireText(answer, 'access_token')}` },
    })
    if (user.active === false) fail('outside_failed', {}, { detail: 'the account is not active' })
    return { subject: numericId(user), name: textOf(user, 'name') || textOf(user, 'username') }
  },
}
