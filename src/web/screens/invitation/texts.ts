import { defineTexts } from '../../lib/i18n.ts'

export const texts = defineTexts({
  title: ['加入组织', 'Join an organisation'],
  titleOf: ['加入 {name}', 'Join {name}'],
  visitor: [
    '你收到了加入组织的邀请。请先登录或注册，再查看和答复。',
    'You are invited to an organisation. Log in or register to see the invitation and answer it.',
  ],
  login: ['登录', 'Log in'],
  register: ['注册', 'Register'],
  broken: ['链接不完整', 'The link is incomplete'],
  brokenHint: ['请完整复制邀请链接，或请邀请人重新发送。', 'Copy the whole link of the invitation, or ask for a new one.'],
  explanation: [
    '加入后，你可以选择由该组织支付你的调用；你的个人账户不受影响。',
    'As a member you can have the organisation pay for your calls. Your personal account stays as it is.',
  ],
  organisation: ['组织', 'Organisation'],
  role: ['角色', 'Role'],
  inviter: ['邀请人', 'Invited by'],
  expires: ['有效期至', 'Expires'],
  you: ['当前账户', 'Signed in as'],
  otherAccount: ['使用其他账户', 'Use another account'],
  accept: ['接受邀请', 'Accept'],
  decline: ['拒绝', 'Decline'],
  declineTitle: ['拒绝此邀请？', 'Decline this invitation?'],
  declineBody: ['拒绝后链接失效。', 'Its link ends.'],
  joined: ['已加入 {name}，现由该组织付款', 'You joined {name}, which pays now'],
  declined: ['已拒绝邀请', 'Invitation declined'],
  accepted: ['此邀请已被接受。', 'This invitation is accepted already.'],
  wasDeclined: ['此邀请已被拒绝。', 'This invitation is declined already.'],
  withdrawn: ['此邀请已被撤回。', 'This invitation was withdrawn.'],
  expired: ['此邀请已过期，请邀请人重新发送。', 'This invitation has expired. Ask for a new one.'],
})
