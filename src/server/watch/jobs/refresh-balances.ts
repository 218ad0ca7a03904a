import { AppError } from '../../base/lib/failure.ts'
import { refreshBalance } from '../../gateway/channels/health/balance.ts'
import type { Job } from './runner.ts'
import { enabledChannels, sweep } from './sweep.ts'

/** Reads the account balances of all enabled channels from their upstreams. */
export const refreshBalances: Job = {
  name: 'refresh-balances',
  label: { zh: '更新渠道余额', en: 'Update channel balances' },
  on: 'one-node',
  onDemand: true,
  everyMs: ({ ChannelBalanceMinutes }) => ChannelBalanceMinutes * 60_000,
  deadlineMs: 3_600_000,
  async run(app, signal, tell) {
    const visit = async (id: number) => {
      try {
        await refreshBalance(app, id)
        return 'read'
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return error.code === 'channel_balance_unsupported' ? 'cannot' : 'failed'
      }
    }
    return sweep(app, { ids: await enabledChannels(app), signal, tell, visit })
  },
}
