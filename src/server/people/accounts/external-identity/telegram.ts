import { createHmac, hash } from 'node:crypto'
import { type TelegramFields, telegramFields } from '../../../../contract/entities/external-identity.ts'
import { fail } from '../../../base/lib/failure.ts'
import { sameSecret } from '../../../base/lib/secrets/secrets.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { markUsed } from '../login-steps.ts'
import type { IdentityCore, Profile } from './oauth-provider.ts'

/** The widget delivers its data at once: older data was stored and replayed. */
const ageMaxMinutes = 10
const aheadMaxSeconds = 60

/**
 * The Telegram user of the widget's data. The data is signed with the bot's token and accepted once, for some minutes.
 * https://core.telegram.org/widgets/login#checking-authorization. Throws `outside_failed`.
 */
export async function identifyTelegram(core: IdentityCore, given: TelegramFields): Promise<Profile> {
  const { TelegramBotToken: token } = core.options.current
  const signed = given.hash.toLowerCase()
  if (token === '' || !sameSecret(signed, signatureOf(given, token))) fail('outside_failed', {}, { detail: 'wrong signature' })

  const age = seconds(core.now()) - Number(given.auth_date)
  if (age > ageMaxMinutes * 60 || age < -aheadMaxSeconds) fail('outside_failed', {}, { detail: 'too old' })
  const isNew = await markUsed(core, { what: `telegram ${signed}`, minutes: ageMaxMinutes + 2 })
  if (!isNew) fail('outside_failed', {}, { detail: 'used before' })
  return { subject: given.id, name: [given.first_name, given.last_name].filter(Boolean).join(' ') }
}

function signatureOf(given: TelegramFields, token: string): string {
  const lines = Object.keys(telegramFields)
    .filter((name) => name !== 'hash')
    .flatMap((name) => {
      // The keys are those of the fields themselves.
      const value = given[name as keyof TelegramFields]
      return value === undefined || value === '' ? [] : [`${name}=${value}`]
    })
  return createHmac('sha256', hash('sha256', token, 'buffer'))
    .update(lines.toSorted().join('\n'))
    .digest('hex')
}
