import { AppError } from '../../base/lib/failure.ts'
import { checkModels } from '../../gateway/channels/edit/model-changes.ts'
import type { Job } from './runner.ts'
import { enabledChannels, sweep } from './sweep.ts'

/** Records which models the upstreams of all enabled channels add and remove. */
export const checkUpstreamModels: Job = {
  name: 'check-models',
  label: { zh: '检查上游模型变化', en: 'Check upstreams for added and removed models' },
  on: 'one-node',
  onDemand: true,
  everyMs: ({ ChannelModelsMinutes }) => ChannelModelsMinutes * 60_000,
  deadlineMs: 3_600_000,
  async run(app, signal, tell) {
    const visit = async (id: number) => {
      try {
        const { added, removed } = await checkModels(app, id)
        return added.length + removed.length > 0 ? 'changed' : 'same'
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return error.code === 'channel_list_unsupported' ? 'cannot' : 'failed'
      }
    }
    return sweep(app, { ids: await enabledChannels(app), signal, tell, visit })
  },
}
