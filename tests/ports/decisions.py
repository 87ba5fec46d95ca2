"""Learning to act, to learn, and to tell alike from unlike: CleanRL's, MAML's, CLIP's and a recommender's programs."""

import math

import torch
import torch.nn.functional as F
from given import filled, integers, numbers
from torch import nn, optim
from torch.distributions import Categorical, Normal
from torch.func import functional_call


class Agent(nn.Module):
    def __init__(self, observed=4, actions=3):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(observed, 8), nn.Tanh(), nn.Linear(8, 1))
        self.actor = nn.Sequential(nn.Linear(observed, 8), nn.Tanh(), nn.Linear(8, actions))

    def get_action_and_value(self, x, action):
        probs = Categorical(logits=self.actor(x))
        return probs.log_prob(action), probs.entropy(), self.critic(x)


def advantages(rewards, values, dones, gamma=0.99, gae_lambda=0.95):
    result, last = torch.zeros_like(rewards), 0
    for t in reversed(range(rewards.size(0))):
        following = values[t + 1] if t + 1 < rewards.size(0) else torch.zeros_like(values[0])
        alive = 1.0 - dones[t]
        delta = rewards[t] + gamma * following * alive - values[t]
        result[t] = last = delta + gamma * gae_lambda * alive * last
    return result, result + values


def ppo():
    agent = filled(Agent())
    optimizer = optim.Adam(agent.parameters(), lr=2.5e-3, eps=1e-5)
    obs, actions = numbers([6, 2, 4], 5), integers(3, [6, 2])
    rewards, dones = numbers([6, 2], 400), (numbers([6, 2], 450) > 0.6).to(torch.get_default_dtype())
    with torch.no_grad():
        logprobs, _, values = agent.get_action_and_value(obs, actions)
        values = values.squeeze(-1)
        adv, returns = advantages(rewards, values, dones)
    logprobs, values, adv, returns = logprobs.flatten(), values.flatten(), adv.flatten(), returns.flatten()
    b_obs, b_actions = obs.flatten(0, 1), actions.flatten()

    def step(i):
        inds = (torch.arange(8) * 5 + i) % 12
        newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[inds], b_actions[inds])
        ratio = (newlogprob - logprobs[inds]).exp()
        a = adv[inds]
        a = (a - a.mean()) / (a.std() + 1e-8)
        pg_loss = torch.max(-a * ratio, -a * torch.clamp(ratio, 0.8, 1.2)).mean()
        newvalue = newvalue.view(-1)
        unclipped = (newvalue - returns[inds]) ** 2
        clipped = values[inds] + torch.clamp(newvalue - values[inds], -0.2, 0.2)
        v_loss = 0.5 * torch.max(unclipped, (clipped - returns[inds]) ** 2).mean()
        loss = pg_loss - 0.01 * entropy.mean() + v_loss * 0.5
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
        return loss, ratio

    return agent, step


def dqn():
    net = lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    q_network, target_network = filled(net()), net()
    target_network.load_state_dict(q_network.state_dict())
    optimizer = optim.Adam(q_network.parameters(), lr=0.01, eps=1e-4)
    states, following, actions = numbers([5, 4], 3), numbers([5, 4], 60), integers(3, [5, 1])
    rewards, dones = numbers([5], 90), torch.tensor([0.0, 1.0, 0.0, 0.0, 1.0])

    def step(i):
        with torch.no_grad():
            best = q_network(following).argmax(dim=1, keepdim=True)
            target = rewards + 0.9 * target_network(following).gather(1, best).squeeze(1) * (1 - dones)
        old = q_network(states).gather(1, actions).squeeze()
        loss = F.smooth_l1_loss(old, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for target_param, param in zip(target_network.parameters(), q_network.parameters(), strict=True):
            target_param.data.copy_(0.1 * param.data + 0.9 * target_param.data)
        return loss, target

    return q_network, step


class Actor(nn.Module):
    """Soft actor-critic's: a normal number, squashed."""

    def __init__(self):
        super().__init__()
        self.fc, self.fc_mean, self.fc_logstd = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(8, 2)
        self.register_buffer("action_scale", torch.tensor([2.0, 0.5]))

    def forward(self, x, noise):
        h = F.relu(self.fc(x))
        mean, log_std = self.fc_mean(h), torch.tanh(self.fc_logstd(h))
        std = (-5 + 0.5 * 7 * (log_std + 1)).exp()
        x_t = mean + std * noise
        y_t = torch.tanh(x_t)
        log_prob = Normal(mean, std).log_prob(x_t) - torch.log(self.action_scale * (1 - y_t.pow(2)) + 1e-6)
        return y_t * self.action_scale, log_prob.sum(1, keepdim=True)


def sac():
    actor, qf = filled(Actor()), filled(nn.Bilinear(4, 2, 1)).requires_grad_(False)
    log_alpha = torch.zeros(1, requires_grad=True)
    actor_optimizer = optim.Adam(actor.parameters(), lr=1e-2, eps=1e-4)
    a_optimizer = optim.Adam([log_alpha], lr=1e-2)
    obs = numbers([5, 4], 25)

    def step(i):
        pi, log_pi = actor(obs, numbers([5, 2], 70 + i))
        actor_loss = (log_alpha.exp().detach() * log_pi - qf(obs, pi)).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
        alpha_loss = (-log_alpha.exp() * (log_pi.detach() - 2)).mean()
        a_optimizer.zero_grad()
        alpha_loss.backward()
        a_optimizer.step()
        return actor_loss + alpha_loss, pi

    return actor, step


def maml():
    """Learns where to begin: gradients through steps of gradients."""
    model = filled(nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1)))
    meta = optim.Adam(model.parameters(), lr=0.01, eps=1e-4)
    x = torch.linspace(-2, 2, 8).unsqueeze(1)

    def step(i):
        losses, out = [], None
        for task in range(2):
            y = torch.sin((1 + task) * x + i)
            params = dict(model.named_parameters())
            for _ in range(2):
                inner = F.mse_loss(functional_call(model, params, (x[:4],)), y[:4])
                grads = torch.autograd.grad(inner, tuple(params.values()), create_graph=True)
                params = {k: p - 0.1 * g for (k, p), g in zip(params.items(), grads, strict=True)}
            out = functional_call(model, params, (x[4:],))
            losses.append(F.mse_loss(out, y[4:]))
        loss = torch.stack(losses).mean()
        meta.zero_grad()
        loss.backward()
        meta.step()
        return loss, out

    return model, step


class CLIP(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Sequential(nn.Conv2d(3, 6, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(24, 5, bias=False))
        self.words, self.text_projection = nn.Embedding(9, 6), nn.Linear(6, 5, bias=False)
        self.logit_scale = nn.Parameter(torch.ones([]) * math.log(1 / 0.07))

    def forward(self, images, text):
        image_features = self.image(images)
        x = self.words(text)
        text_features = self.text_projection(x[torch.arange(x.shape[0]), text.argmax(dim=-1)])
        image_features = image_features / image_features.norm(dim=1, keepdim=True)
        text_features = F.normalize(text_features, dim=1)
        return self.logit_scale.exp() * image_features @ text_features.t()


def clip():
    model = filled(CLIP())
    images, text, labels = numbers([4, 3, 5, 5], 3), integers(9, [4, 5]), torch.arange(4)
    optimizer = optim.AdamW(model.parameters(), lr=1e-2, eps=1e-4)

    def step(i):
        optimizer.zero_grad()
        logits = model(images, text)
        loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            model.logit_scale.clamp_(0, math.log(100))
        values, _ = logits.softmax(dim=-1).topk(3)
        return loss, values

    return model, step


def siamese():
    model = filled(nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.Mish(), nn.Linear(8, 4)))
    anchor, positive, negative = numbers([5, 6], 1), numbers([5, 6], 100), numbers([5, 6], 200)
    triplet = nn.TripletMarginLoss(margin=0.5, swap=True)
    cosine = nn.CosineEmbeddingLoss(margin=0.1)
    optimizer = optim.Rprop(model.parameters(), lr=0.01)

    def step(i):
        optimizer.zero_grad()
        a, p, n = (model(x) for x in (anchor, positive, negative))
        loss = triplet(a, p, n) + cosine(a, n, -torch.ones(5)) + F.margin_ranking_loss(a[:, 0], p[:, 0], torch.ones(5))
        loss.backward()
        optimizer.step()
        return loss, torch.cdist(a, p)

    return model, step


class Recommender(nn.Module):
    """DLRM: bags of categories, and their products with each other."""

    def __init__(self, sizes=(7, 5), dim=4):
        super().__init__()
        self.bags = nn.ModuleList([nn.EmbeddingBag(n, dim, mode="sum") for n in sizes])
        self.bottom = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, dim), nn.ReLU())
        self.top = nn.Linear(dim + 3, 1)

    def forward(self, dense, bags):
        x = self.bottom(dense)
        each = [bag(ids, offsets) for bag, (ids, offsets) in zip(self.bags, bags, strict=True)]
        t = torch.stack([x, *each], dim=1)
        products = torch.bmm(t, t.transpose(1, 2))
        rows, columns = torch.tril_indices(3, 3, offset=-1)
        return self.top(torch.cat([x, products[:, rows, columns]], dim=1)).squeeze(1)


def recommender():
    model = filled(Recommender())
    bags = [(integers(7, [6]), torch.tensor([0, 2, 3])), (integers(5, [4], 30), torch.tensor([0, 1, 1]))]
    dense, clicked = numbers([3, 3], 5), torch.tensor([1.0, 0.0, 1.0])
    optimizer = optim.Adagrad(model.parameters(), lr=0.05)

    def step(i):
        optimizer.zero_grad()
        logits = model(torch.log1p(dense.abs()), bags)
        loss = F.binary_cross_entropy_with_logits(logits, clicked, pos_weight=torch.tensor(2.0))
        loss.backward()
        optimizer.step()
        return loss, logits

    return model, step


PROGRAMS = [ppo, dqn, sac, maml, clip, siamese, recommender]
