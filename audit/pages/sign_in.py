"""How a person comes in: by a one-time link, or by address and password; and how they leave.

Invariants
- A one-time link is used by pressing its button, never by opening it: programs that fetch ahead use up nothing.
- A link opens once (memory.agents.accounts); signing in by any way ends the links given before.
- Ten failures in fifteen minutes, by one address or for one account, close the door for the rest of that time.
- A wrong address and a wrong password give one answer.
"""

from typing import Any

from django import forms
from django.contrib.auth import authenticate, login, logout, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import password_validators_help_texts, validate_password
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from audit.access import problem_of, shown_name
from audit.components import Problem
from audit.throttle import Counter, count_failure, forget_failures, require_room
from memory.agents.accounts import person_of_link, redeem_link
from memory.base.errors import Invalid, RateLimited

BACKEND = "django.contrib.auth.backends.ModelBackend"
BY_LINK = "signed_in_by_link"


class SignInForm(forms.Form):
    email = forms.CharField(
        label="Email address", max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True, "spellcheck": "false"}),
    )  # fmt: skip
    password = forms.CharField(
        label="Password", max_length=1024, strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )  # fmt: skip


class PasswordForm(forms.Form):
    """A new password; the one in use is asked for, unless the person has none or came by a link just now."""

    old = forms.CharField(
        label="Password in use", max_length=1024, strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )  # fmt: skip
    new = forms.CharField(
        label="New password", max_length=1024, strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )  # fmt: skip
    again = forms.CharField(
        label="New password, again", max_length=1024, strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )  # fmt: skip

    def __init__(self, *args: Any, user: User, asks_old: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self.fields["new"].help_text = " ".join(password_validators_help_texts())
        if not asks_old:
            del self.fields["old"]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if "old" in given and not self.user.check_password(given["old"]):
            self.add_error("old", "This is not the password in use.")
        if "new" in given:
            if given.get("again") != given["new"]:
                self.add_error("again", "The two passwords differ.")
            try:
                validate_password(given["new"], self.user)
            except forms.ValidationError as error:
                self.add_error("new", error)
        return given


@never_cache
@sensitive_post_parameters("password")
def index(request: HttpRequest) -> HttpResponse:
    """The form of address and password."""
    if request.method != "POST":
        if request.user.is_authenticated:
            return HttpResponseRedirect(_next(request))
        return _form(request, SignInForm())
    form = SignInForm(request.POST)
    if not form.is_valid():
        return _form(request, form, status=422)
    account = form.cleaned_data["email"].strip().lower()
    counters = (Counter("address", _address(request)), Counter("account", account))
    try:
        require_room(*counters)
    except RateLimited as error:
        return _too_many(request, error)
    user = authenticate(request, username=account, password=form.cleaned_data["password"])
    if user is None:
        count_failure(*counters)
        form.add_error(None, "The address or the password is wrong.")
        return _form(request, form, status=422)
    forget_failures(*counters)
    login(request, user)
    return HttpResponseRedirect(_next(request))


@never_cache
def link(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    """A one-time link: opening it shows a button, pressing the button signs in."""
    counter = Counter("address", _address(request))
    try:
        require_room(counter)
    except RateLimited as error:
        return _too_many(request, error)
    user = redeem_link(uid, token) if request.method == "POST" else person_of_link(uid, token)
    if user is None:
        if request.method == "POST":
            count_failure(counter)
        ended = Invalid("This link was used, has ended, or is not whole. Ask an owner for a new one.")
        return _page(request, "sign_in/link.html", {"problem": problem_of(request, ended)}, status=ended.status)
    if request.method != "POST":
        return _page(request, "sign_in/link.html", {"name": shown_name(user)})
    login(request, user, backend=BACKEND)
    request.session[BY_LINK] = True
    return HttpResponseRedirect("/" if user.has_usable_password() else "/sign-in/password")


@never_cache
@sensitive_post_parameters()
@login_required
def password(request: HttpRequest) -> HttpResponseBase:
    """Set or change the password; other sessions of the person end."""
    user = request.user
    assert isinstance(user, User)
    asks_old = user.has_usable_password() and not request.session.get(BY_LINK)
    form = PasswordForm(request.POST or None, user=user, asks_old=asks_old)
    if request.method == "POST" and form.is_valid():
        user.set_password(form.cleaned_data["new"])
        user.save(update_fields=["password"])
        update_session_auth_hash(request, user)
        request.session.pop(BY_LINK, None)
        return HttpResponseRedirect("/")
    status = 422 if request.method == "POST" else 200
    context = {"form": form, "has_password": user.has_usable_password(), "name": shown_name(user)}
    return _page(request, "sign_in/password.html", context, status=status)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return HttpResponseRedirect("/sign-in")


def _form(request: HttpRequest, form: SignInForm, *, status: int = 200, problem: Problem | None = None) -> HttpResponse:
    context = {"form": form, "next": request.POST.get("next") or request.GET.get("next", ""), "problem": problem}
    return _page(request, "sign_in/index.html", context, status=status)


def _page(request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    return render(request, template, context, status=status)


def _too_many(request: HttpRequest, error: RateLimited) -> HttpResponse:
    response = _form(request, SignInForm(), status=error.status, problem=problem_of(request, error))
    response.headers["Retry-After"] = str(error.extra["retry_after"])
    return response


def _next(request: HttpRequest) -> str:
    """Where the person was going, if that is on this site."""
    target = request.POST.get("next") or request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return target if is_ours else "/"


def _address(request: HttpRequest) -> str:
    return str(request.META.get("REMOTE_ADDR", ""))


urlpatterns = [
    path("sign-in", index, name="sign-in"),
    path("sign-in/password", password, name="password"),
    path("sign-in/<str:uid>/<str:token>", link, name="sign-in-link"),
    path("sign-out", sign_out, name="sign-out"),
]
