import { numericId, requireText, textOf } from './profile.ts'
import { codeForm, type VisitedWay, visitQuery, withQuery } from './visit.ts'

/** Matched by the numeric id: login names are given up and taken by others. The public profile is enough, so that no scope is asked for. */
export const github: VisitedWay = {
  async authorizeUrl({ options, outside }, visit) {
    return withQuery(outside.peers.addresses.github.authorize, visitQuery(options.current.GitHubClientId, visit))
  },

  async identify({ options, outside: { peers } }, given) {
    const { GitHubClientId: client_id, GitHubClientSecret: client_secret } = options.current
    const answer = await peers.ask({
      url: peers.addresses.github.token,
      form: { client_id, client_secret, ...codeForm(given) },
    })
    const user = await peers.ask({
      url: peers.addresses.github.user,
      headers: { authorization: `Bearer ${requireText(answer, 'access_token')}` },
    })
    return { subject: numericId(user), name: textOf(user, 'name') || textOf(user, 'login') }
  },
}
