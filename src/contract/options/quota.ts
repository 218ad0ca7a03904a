import { units } from '../units.ts'
import { option, section } from './define.ts'
import { integer, quota } from './shapes.ts'

export const quotas = section(
  { name: 'quota', tab: 'operation', label: { zh: '额度设置', en: 'Quota settings' }, writer: 'admin' },
  {
    QuotaForNewUser: option({
      ...quota(0),
      label: { zh: '新用户初始额度', en: 'Initial quota for new users' },
      help: { zh: '注册时赠送的额度。', en: 'Quota granted at registration.' },
    }),
    PreConsumedQuota: option({
      ...integer(500, { min: 0, max: 10_000_000, unit: units.tokens }),
      label: { zh: '请求预扣费额度', en: 'Held tokens for requests' },
      help: {
        zh: '请求未声明输出上限时，至少为回答预留的 Token 数；模型的最长回答更长时按最长回答预留，请求结束后多退少补。',
        en: 'Minimum number of tokens held for the response if a request sets no output limit. If the model’s longest response is longer, that is held instead. The difference is settled when the request ends.',
      },
    }),
    QuotaForInviter: option({
      ...quota(0),
      label: { zh: '邀请新用户奖励额度', en: 'Reward for inviting a user' },
      help: {
        zh: '被邀请者注册后，邀请者获得的额度。',
        en: 'Quota that the inviter earns after the invited user has registered.',
      },
    }),
    QuotaForInvitee: option({
      ...quota(0),
      label: { zh: '新用户使用邀请码奖励额度', en: 'Reward for using an invite code' },
      help: { zh: '使用邀请码注册的用户额外获得的额度。', en: 'Extra quota for users who register with an invite code.' },
    }),
    QuotaRemindThreshold: option({
      ...quota(500_000),
      label: { zh: '额度提醒阈值', en: 'Low quota threshold' },
      help: {
        zh: '余额低于此值时提醒用户；用户可在个人设置中另设。',
        en: 'Users are warned when their balance falls below this value. They can set their own threshold.',
      },
    }),
  },
)
