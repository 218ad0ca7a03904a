import { fail } from '../../../base/lib/failure.ts'
import type { IdentityCore, Profile } from './oauth-provider.ts'
import { textOf } from './read-profile.ts'

/** Exchanges the code that the official account sent to a WeChat user for that user. Throws `code_wrong`, `outside_failed`. */
export async function identifyWechat({ options, identity }: IdentityCore, code: string): Promise<Profile> {
  const { WeChatServerAddress, WeChatServerToken } = options.current
  const given = code.trim()
  if (given === '' || given.length > 100) fail('code_wrong')
  const answer = await identity.providers.call({
    url: `${WeChatServerAddress}/api/wechat/user?code=${encodeURIComponent(given)}`,
    headers: { authorization: WeChatServerToken },
  })
  const subject = textOf(answer, 'data')
  if (answer.success !== true || subject === '' || subject.length > 200) return fail('code_wrong')
  return { subject, name: '' }
}
