import { channelStatus } from '../../../contract/entities/channel-status.ts'
import { disableChannel, enableAfterTest, reportFailure, reportTest } from '../../gateway/channels/health/auto-disable.ts'
import { openChannel, type RunningChannel, type SavedChannel } from '../../gateway/channels/index/model-index.ts'
import { type Probe, probeKey } from '../../gateway/relay/models/probe.ts'
import type { App } from '../parts.ts'
import type { Job } from './runner.ts'
import { sweep } from './sweep.ts'

/** The number of automatically disabled keys of a channel that are retried in one run. */
const triedAgainMax = 20

/**
 * Tests every channel, disabled ones too. Channels that fail for good or answer too slowly are disabled; automatically disabled ones
 * that pass are enabled; each subject to the options. A channel that cannot be tested is unchanged.
 */
export const testChannels: Job = {
  name: 'test-channels',
  label: { zh: '测试全部渠道', en: 'Test all channels' },
  on: 'one-node',
  onDemand: true,
  everyMs: ({ ChannelTestMinutes }) => ChannelTestMinutes * 60_000,
  deadlineMs: 3_600_000,
  async run(app, signal, tell) {
    const rows = await app.db.selectFrom('channels').select('id').orderBy('id').execute()
    return sweep(app, { ids: rows.map(({ id }) => id), signal, tell, visit: (id) => testChannel(app, id) })
  },
}

async function testChannel(app: App, id: number): Promise<string> {
  const saved = await openChannel(app, id)
  const [first, ...others] = saved.keys
  if (!first) return 'broken'
  const probe = await probeKey(app, first, '')
  const again = others.filter(({ keyId }) => saved.idle.get(keyId) === channelStatus.autoDisabled).slice(0, triedAgainMax)
  for (const key of again) await follow(app, key, await probeKey(app, key, ''))
  if (probe.outcome === 'cannot') return 'cannot'

  await reportTest(app, id, probe)
  if (probe.outcome === 'passed' && (await disableSlow(app, saved, first, probe.ms))) return 'slow'
  await follow(app, first, probe)
  return probe.outcome
}

async function follow(app: App, channel: RunningChannel, probe: Probe): Promise<void> {
  if (probe.outcome === 'passed') await enableAfterTest(app, channel)
  if (probe.outcome !== 'failed' || probe.failure.isCallersMistake || probe.failure.isLoop) return
  const { status, facts } = probe.failure
  await reportFailure(app, channel, { status, code: facts.code, type: facts.type, message: facts.message })
}

/**
 * Disables a channel that was too slow. Returns whether it was disabled. A channel that was disabled already is not enabled by a
 * slow test.
 */
async function disableSlow(app: App, { row }: SavedChannel, channel: RunningChannel, ms: number): Promise<boolean> {
  const { ChannelDisableThreshold, AutomaticDisableChannelEnabled } = app.options.current
  if (ChannelDisableThreshold === 0 || ms <= ChannelDisableThreshold * 1000) return false
  if (row.status !== channelStatus.enabled) return row.status === channelStatus.autoDisabled
  if (!AutomaticDisableChannelEnabled || !channel.autoBan) return false
  const [took, most] = [(ms / 1000).toFixed(1), ChannelDisableThreshold]
  await disableChannel(app, channel, `测试用时 ${took} 秒，超过 ${most} 秒 / the test took ${took} s, more than ${most} s`)
  return true
}
