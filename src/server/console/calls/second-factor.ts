import type { Handlers } from '../../../contract/route.ts'
import type { secondFactorRoutes } from '../../../contract/routes/second-factor.ts'
import { completeWithSecondFactor } from '../../people/accounts/complete-login.ts'
import { findPasskeySite } from '../../people/accounts/passkey-site.ts'
import { listPasskeys } from '../../people/accounts/passkeys.ts'
import { requireRecentLogin } from '../../people/accounts/reauthenticate.ts'
import { type AccountChange, sendSecurityNotice } from '../../people/accounts/security-notice.ts'
import {
  beginTwoFactor,
  confirmTwoFactor,
  countBackupCodes,
  endTwoFactor,
  hasTwoFactor,
  renewBackupCodes,
} from '../../people/accounts/two-factor.ts'
import { findUser } from '../../people/accounts/users.ts'
import { type Context, requireCaller } from './context.ts'
import { setLoginSession } from './session.ts'

export const secondFactorHandlers: Handlers<typeof secondFactorRoutes, Context> = {
  async 'POST /api/user/login/second'(context, { body: { code } }) {
    const { app, address, userAgent, browserToken } = context
    return setLoginSession(context, await completeWithSecondFactor(app, { code, browserToken, address, userAgent }))
  },

  async 'GET /api/user/security'(context) {
    const { app } = context
    const { id } = requireCaller(context)
    const user = await findUser(app.db, id)
    return {
      password: user.password_hash !== '',
      two_factor: await hasTwoFactor(app.db, id),
      backup_codes: await countBackupCodes(app.db, id),
      passkeys: await listPasskeys(app.db, id),
      passkeys_offered: findPasskeySite(app.options.current) !== undefined,
    }
  },

  async 'POST /api/user/two_factor'(context) {
    await requireRecentLogin(context.app, context.sessionToken)
    return beginTwoFactor(context.app, requireCaller(context))
  },

  async 'POST /api/user/two_factor/confirm'(context, { body: { code } }) {
    const codes = await confirmTwoFactor(context.app, requireCaller(context), code)
    tell(context, 'twoFactorOn')
    return codes
  },

  async 'POST /api/user/two_factor/backup_codes'(context) {
    await requireRecentLogin(context.app, context.sessionToken)
    const codes = await renewBackupCodes(context.app, requireCaller(context))
    tell(context, 'backupCodes')
    return codes
  },

  async 'DELETE /api/user/two_factor'(context) {
    await requireRecentLogin(context.app, context.sessionToken)
    await endTwoFactor(context.app, requireCaller(context))
    tell(context, 'twoFactorOff')
    return null
  },
}

function tell(context: Context, change: AccountChange): void {
  sendSecurityNotice(context.app, { id: requireCaller(context).id, language: context.language }, change)
}
